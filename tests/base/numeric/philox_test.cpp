#include <gtest/gtest.h>

#include <array>
#include <bochner/base/numeric/philox.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

namespace bochner {
namespace philox_test {

using Words = std::array<std::uint32_t, 4>;

std::uint64_t join(std::uint32_t low, std::uint32_t high) {
  return (std::uint64_t(high) << 32) | low;
}

/// Philox4x32-10 of a counter and a key, through the mapping that fixes every number of a run:
/// counter = (element, stream), key = seed ^ purpose * 0x9E3779B97F4A7C15.
Words philox(const Words& counter, const std::array<std::uint32_t, 2>& key) {
  const std::uint64_t mask = std::uint64_t(Purpose::test) * 0x9E3779B97F4A7C15u;
  const RandomFunction random{join(key[0], key[1]) ^ mask, Purpose::test,
                              join(counter[2], counter[3])};
  return random.bits(join(counter[0], counter[1]));
}

TEST(Philox, GivesThePublishedVectors) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

/// A change of any of these breaks the resumption of every stored run.
TEST(Philox, KeepsItsNumbersForEver) {
  const RandomFunction random{1, Purpose::initialization, stream_of("blocks.0.mixer.weight")};
  EXPECT_EQ(stream_of(""), 0xCBF29CE484222325u);
  EXPECT_EQ(stream_of("a"), 0xAF63DC4C8601EC8Cu);
  EXPECT_EQ(random.bits(0), (Words{0xacef2afa, 0x0b6bf277, 0x5b4ce7a6, 0x2f40008b}));
  EXPECT_EQ(random.uniform(1), 0x1.234a9909d2710p-5);
  EXPECT_DOUBLE_EQ(random.normal(2), -0.5135438999531172);
  EXPECT_EQ(random.integer(3, 1000000), 325868u);
  EXPECT_EQ(int(Purpose::initialization), 1);
  EXPECT_EQ(int(Purpose::dropout), 2);
  EXPECT_EQ(int(Purpose::spectral), 3);
  EXPECT_EQ(int(Purpose::data_order), 4);
  EXPECT_EQ(int(Purpose::sampling), 5);
  EXPECT_EQ(int(Purpose::test), 6);
}

TEST(Philox, UniformFillsTheOpenInterval) {
  const RandomFunction random{2};
  constexpr int count = 200000;
  double sum = 0, sum_of_squares = 0, low = 1, high = 0;
  for (int i = 0; i < count; ++i) {
    const double u = random.uniform(std::uint64_t(i));
    sum += u;
    sum_of_squares += u * u;
    low = std::min(low, u);
    high = std::max(high, u);
  }
  EXPECT_GT(low, 0);
  EXPECT_LT(high, 1);
  EXPECT_LT(low, 1e-4);
  EXPECT_GT(high, 1 - 1e-4);
  // Five standard errors.
  EXPECT_NEAR(sum / count, 0.5, 5 * std::sqrt(1.0 / 12 / count));
  EXPECT_NEAR(sum_of_squares / count, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / count));
}

TEST(Philox, NormalHasTheMomentsOfANormal) {
  const RandomFunction random{3};
  constexpr int count = 400000;
  std::array<double, 5> moment{};
  int beyond_two = 0;
  for (int i = 0; i < count; ++i) {
    const double x = random.normal(std::uint64_t(i));
    for (int power = 1; power <= 4; ++power) moment[power] += std::pow(x, power) / count;
    beyond_two += std::fabs(x) > 2;
  }
  // Variances of x, x^2, x^3, x^4 are 1, 2, 15, 96.
  EXPECT_NEAR(moment[1], 0, 5 * std::sqrt(1.0 / count));
  EXPECT_NEAR(moment[2], 1, 5 * std::sqrt(2.0 / count));
  EXPECT_NEAR(moment[3], 0, 5 * std::sqrt(15.0 / count));
  EXPECT_NEAR(moment[4], 3, 5 * std::sqrt(96.0 / count));
  EXPECT_NEAR(beyond_two / double(count), std::erfc(std::sqrt(2.0)), 5 * std::sqrt(0.0434 / count));
}

TEST(Philox, IntegerIsUnbiased) {
  for (const std::uint64_t bound : {2, 3, 7, 100}) {
    const RandomFunction random{4, Purpose::test, bound};
    std::vector<int> histogram(bound);
    const int count = 2000 * int(bound);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t drawn = random.integer(std::uint64_t(i), bound);
      ASSERT_LT(drawn, bound);
      ++histogram[drawn];
    }
    double chi_square = 0;
    for (const int found : histogram) chi_square += (found - 2000.0) * (found - 2000.0) / 2000.0;
    // Mean and variance of chi-square with n degrees of freedom: n and 2 n.
    const double freedom = double(bound - 1);
    EXPECT_LT(chi_square, freedom + 5 * std::sqrt(2 * freedom) + 5) << bound;
  }
}

TEST(Philox, IntegerCoversTheWholeWord) {
  const RandomFunction random{5};
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i < 200; ++i) all |= random.integer(i, std::uint64_t(-1));
  EXPECT_EQ(all, std::uint64_t(-1));
  EXPECT_EQ(random.integer(9, 1), 0u);
}

/// Correlation of two functions over their first elements, in standard errors.
double correlation(const RandomFunction& a, const RandomFunction& b) {
  constexpr int count = 20000;
  double sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += a.normal(i) * b.normal(i);
  return sum / std::sqrt(double(count));
}

TEST(Philox, SeedsPurposesAndStreamsAreIndependent) {
  const RandomFunction one{7, Purpose::dropout, 1};
  const RandomFunction others[] = {{8, Purpose::dropout, 1},
                                   {7, Purpose::spectral, 1},
                                   {7, Purpose::dropout, 2},
                                   {7, Purpose::dropout, std::uint64_t(1) << 32},
                                   {std::uint64_t(7) << 32, Purpose::dropout, 1}};
  EXPECT_GT(correlation(one, one), 100);
  for (const RandomFunction& other : others) {
    EXPECT_NE(one.bits(0), other.bits(0));
    EXPECT_LT(std::fabs(correlation(one, other)), 5);
  }
}

TEST(Philox, UsesAllBitsOfTheElement) {
  const RandomFunction random{9};
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_NE(random.bits(0), random.bits(std::uint64_t(1) << bit)) << bit;
  }
}

}  // namespace philox_test
}  // namespace bochner
