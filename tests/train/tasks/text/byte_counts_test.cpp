#include <gtest/gtest.h>

#include <bochner/train/tasks/text/byte_counts.hpp>
#include <cmath>
#include <string>

namespace bochner {
namespace byte_counts_test {

TEST(ByteCounts, KnowsNothingBeforeATextAndAdds) {
  EXPECT_DOUBLE_EQ(ByteCounts().bits("abc"), 24);
  EXPECT_DOUBLE_EQ(ByteCounts().bits("abc", 1), 16);
}

/// After "aab", p(a) = (2 + 2 / 256) / (3 + 2) without a context, and after "a", once followed by a
/// and once by b, p(b | a) = (1 + 2 p(b)) / (2 + 2).
TEST(ByteCounts, AreThoseOfWittenAndBell) {
  ByteCounts counts;
  counts.add("aab");
  const double a = (2 + 2 / 256.) / 5, b = (1 + 2 / 256.) / 5, b_after_a = (1 + 2 * b) / 4;
  EXPECT_DOUBLE_EQ(counts.bits("a"), -std::log2(a));
  EXPECT_DOUBLE_EQ(counts.bits("ab", 1), -std::log2(b_after_a));
  EXPECT_DOUBLE_EQ(counts.bits("aab", 2), -std::log2((1 + b_after_a) / 2));
}

TEST(ByteCounts, GiveProbabilitiesThatSumToOne) {
  ByteCounts counts;
  counts.add("the rain in spain\xff\n");
  for (const std::string before : {"", "a", "in", "\xff\n", "zz"}) {
    double sum = 0;
    for (int byte = 0; byte < 256; ++byte)
      sum += std::exp2(-counts.bits(before + char(byte), before.size()));
    EXPECT_NEAR(sum, 1, 1e-12) << before;
  }
}

TEST(EntropyOfBytes, IsTwoBitsForFourEqualCounts) {
  std::array<std::uint64_t, 256> counts{};
  for (const int byte : {0, 7, 130, 255}) counts[std::size_t(byte)] = 5;
  EXPECT_DOUBLE_EQ(entropy_of_bytes(counts), 2);
  counts = {};
  counts[3] = 9;
  EXPECT_EQ(entropy_of_bytes(counts), 0);
}

}  // namespace byte_counts_test
}  // namespace bochner
