#include <gtest/gtest.h>

#include <bochner/train/run/instruments/statistics.hpp>
#include <cmath>
#include <limits>

namespace bochner {
namespace statistics_test {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// What is no number is worse than any.
TEST(Quantiles, HaveWhatIsNoNumberBehindAllNumbers) {
  EXPECT_EQ(median({nan, 3, nan, 1, 2}), 3);
  EXPECT_EQ(quantile_of({nan, 5, nan, 4, 3, nan, 2, 1, nan}, 0.25), 3);
  EXPECT_TRUE(std::isnan(median({1, nan, nan})));
  std::vector<double> many(101, nan);
  for (int i = 0; i < 51; ++i) many[std::size_t(2 * i)] = 50 - i;
  EXPECT_EQ(median(many), 50);
}

TEST(Deviation, OfEqualNumbersIsNothing) {
  EXPECT_EQ(deviation_of(std::vector<double>(49, 0.1)), 0);
  EXPECT_NEAR(deviation_of({1, 3}), 1, 1e-15);
  EXPECT_TRUE(std::isnan(deviation_of({1, nan})));
}

}  // namespace statistics_test
}  // namespace bochner
