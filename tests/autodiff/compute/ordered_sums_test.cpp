#include <gtest/gtest.h>

#include <autodiff/same_bits.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <cmath>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {
namespace ordered_sums_test {

constexpr double tolerance = std::is_same_v<real, double> ? 1e-11 : 2e-4;
constexpr real nan = std::numeric_limits<real>::quiet_NaN();
constexpr real infinity = std::numeric_limits<real>::infinity();

Tensor values(const Shape& shape) {
  const RandomFunction random{3, Purpose::test, 1};
  Tensor x = uninitialized(shape);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = real(random.normal(i));
  return x;
}

TEST(SumRow, AgreesWithASerialSumForAllLengths) {
  const Tensor x = values({100});
  for (std::size_t n = 0; n <= 100; ++n) {
    double sum = 0, squares = 0, spread = 0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += double(x.data()[i]);
      squares += double(x.data()[i]) * double(x.data()[i]);
      spread += std::pow(double(x.data()[i]) - 0.5, 2);
    }
    EXPECT_NEAR(sum_row(x.data(), n), sum, tolerance) << n;
    EXPECT_NEAR(dot_row(x.data(), x.data(), n), squares, tolerance) << n;
    EXPECT_NEAR(spread_row(x.data(), n, real(0.5)), spread, tolerance) << n;
    EXPECT_NEAR(sum_of_squares(x.data(), n), squares, 1e-11) << n;
  }
}

/// Compares functions of many rows of n elements with a stride to those of single rows.
void expect_bits_of_each_row(std::size_t rows, std::size_t n, const Tensor& x, const Tensor& y) {
  const std::size_t stride = x.shape()[1];
  Tensor sums = zeros({rows}), dots = zeros({rows}), largest = zeros({rows});
  sum_each_row(rows, n, x.data(), stride, sums.data());
  dot_each_row(rows, n, x.data(), stride, y.data(), stride, dots.data());
  largest_of_each_row(rows, n, x.data(), stride, largest.data());
  Tensor expected[] = {zeros({rows}), zeros({rows}), zeros({rows})};
  for (std::size_t i = 0; i < rows; ++i) {
    const real* row = x.data() + i * stride;
    expected[0].data()[i] = sum_row(row, n);
    expected[1].data()[i] = dot_row(row, y.data() + i * stride, n);
    expected[2].data()[i] = max_of_numbers(row, n);
  }
  SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(n));
  EXPECT_TRUE(same_bits(sums, expected[0]));
  EXPECT_TRUE(same_bits(dots, expected[1]));
  EXPECT_TRUE(same_bits(largest, expected[2]));
}

TEST(EachRow, HasTheBitsOfTheFunctionOfOneRow) {
  for (std::size_t rows : {1, 7, 8, 15, 16, 17, 40}) {
    for (std::size_t n : {1, 15, 16, 32, 50, 64}) {
      Tensor x = values({rows, n + 3});
      const Tensor y = values({rows, n + 3});
      expect_bits_of_each_row(rows, n, x, y);
      x.data()[(rows / 2) * (n + 3) + n / 2] = nan;
      expect_bits_of_each_row(rows, n, x, y);
    }
  }
}

TEST(MaxRow, FindsTheLargestWhereverItIs) {
  for (std::size_t n : {1, 2, 15, 16, 17, 33, 100}) {
    for (std::size_t place = 0; place < n; ++place) {
      Tensor x = filled({n}, -5);
      x.data()[place] = -2;
      EXPECT_EQ(max_row(x.data(), n), -2) << n << " " << place;
      EXPECT_EQ(max_of_numbers(x.data(), n), -2) << n << " " << place;
    }
  }
}

TEST(MaxRow, LetsNanThroughWhereverItIs) {
  for (std::size_t n : {1, 2, 15, 16, 17, 33, 100}) {
    for (std::size_t place = 0; place < n; ++place) {
      Tensor x = values({n});
      x.data()[place] = nan;
      EXPECT_TRUE(std::isnan(max_row(x.data(), n))) << n << " " << place;
    }
  }
}

TEST(AllFinite, SeesOneBadElement) {
  for (real bad : {nan, infinity, -infinity}) {
    Tensor x = values({40001});
    EXPECT_TRUE(all_finite(x.data(), x.size()));
    x.data()[40000] = bad;
    EXPECT_FALSE(all_finite(x.data(), x.size()));
  }
  EXPECT_TRUE(all_finite(nullptr, 0));
}

/// Sums element by element in double.
std::vector<double> naive_sum_to_shape(const Tensor& x, const Shape& shape) {
  const std::size_t rank = x.dimension(), offset = rank - shape.size();
  std::vector<double> result(element_count(shape), 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::size_t rest = i, target = 0, step = 1;
    for (std::size_t axis = rank; axis-- > 0; rest /= x.shape()[axis]) {
      if (axis < offset) continue;
      const std::size_t size = shape[axis - offset];
      if (size != 1) target += rest % x.shape()[axis] * step;
      step *= size;
    }
    result[target] += double(x.data()[i]);
  }
  return result;
}

const std::vector<std::pair<Shape, Shape>> broadcasts = {{{4, 3, 5}, {4, 3, 5}},
                                                         {{4, 3, 5}, {5}},
                                                         {{4, 3, 5}, {}},
                                                         {{4, 3, 5}, {1}},
                                                         {{4, 3, 5}, {3, 1}},
                                                         {{4, 3, 5}, {4, 1, 5}},
                                                         {{4, 3, 5}, {1, 3, 1}},
                                                         {{4, 3, 5}, {4, 1, 1}},
                                                         {{2, 3, 4, 5}, {2, 1, 4, 1}},
                                                         {{1, 1}, {1}},
                                                         {{0, 3}, {3}},
                                                         {{3, 0}, {1}},
                                                         {{0, 3}, {0, 1}},
                                                         {{700, 70}, {70}},
                                                         {{700, 70}, {700, 1}},
                                                         {{3, 200, 70}, {200, 1}},
                                                         {{2, 40001}, {2, 1}},
                                                         {{5, 200, 70}, {5, 1, 70}},
                                                         {{90, 20, 30}, {90, 1, 30}},
                                                         {{49001}, {}}};

TEST(SumToShape, AgreesWithTheDefinition) {
  for (const auto& [from, to] : broadcasts) {
    const Tensor x = values(from);
    const Tensor result = sum_to_shape(x, to);
    const std::vector<double> expected = naive_sum_to_shape(x, to);
    ASSERT_EQ(result.shape(), to);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(result.data()[i], expected[i], tolerance)
          << to_string(from) << " to " << to_string(to) << " at " << i;
    }
  }
}

TEST(SumToShape, BitsDoNotDependOnThreads) {
  for (const auto& [from, to] : broadcasts) {
    const Tensor x = values(from);
    set_thread_count(1);
    const Tensor expected = sum_to_shape(x, to);
    const double squares = sum_of_squares(x.data(), x.size());
    for (std::size_t threads : {2, 3}) {
      set_thread_count(threads);
      const Tensor result = sum_to_shape(x, to);
      EXPECT_TRUE(same_bits(result, expected)) << to_string(from) << " to " << to_string(to);
      EXPECT_EQ(sum_of_squares(x.data(), x.size()), squares);
    }
  }
  set_thread_count(0);
}

// The digests are equal for every preset: no sum depends on the register width.
TEST(SumToShape, HasTheBitsOfEveryProcessor) {
  std::uint64_t digest = 0;
  for (const auto& [from, to] : broadcasts) {
    const Tensor x = mixed(from, 1), sums = sum_to_shape(x, to);
    const real squares = real(sum_of_squares(x.data(), x.size()));
    digest = digest_of(sums.data(), sums.size(), digest_of(&squares, 1, digest));
  }
  EXPECT_EQ(digest, (std::is_same_v<real, double> ? 0x6ba6eda13c8baeeu : 0x27cafd38660136eu))
      << std::hex << digest;
}

TEST(AccumulateColumns, AddsToWhatIsThere) {
  const Tensor x = values({1000, 40});
  Tensor y = filled({40}, 2);
  accumulate_columns(x.data(), 1000, 40, y.data());
  const std::vector<double> expected = naive_sum_to_shape(x, {40});
  for (std::size_t j = 0; j < 40; ++j) EXPECT_NEAR(y.data()[j], 2 + expected[j], tolerance);
}

}  // namespace ordered_sums_test
}  // namespace bochner::inline BOCHNER_PRECISION
