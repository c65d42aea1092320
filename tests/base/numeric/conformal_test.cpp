#include <gtest/gtest.h>

#include <bochner/base/numeric/conformal.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <cmath>
#include <numeric>

namespace bochner {
namespace {

std::vector<double> first_numbers(std::size_t n) {
  std::vector<double> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 1.0);
  return numbers;
}

TEST(Conformal, QuantileIsTheRankWithTheFurtherScoreCounted) {
  EXPECT_EQ(conformal_quantile(first_numbers(9), 0.9), 9);
  EXPECT_EQ(conformal_quantile(first_numbers(19), 0.9), 18);
  EXPECT_EQ(conformal_quantile(first_numbers(99), 0.95), 95);
  EXPECT_TRUE(std::isinf(conformal_quantile(first_numbers(8), 0.9)));
  EXPECT_TRUE(std::isinf(conformal_quantile({}, 0.5)));
}

TEST(Conformal, PValuesCountTheScoreItself) {
  const ConformalRanks ranks(first_numbers(9));
  EXPECT_DOUBLE_EQ(ranks.p_value(10), 0.1);
  EXPECT_DOUBLE_EQ(ranks.p_value(9), 0.2);
  EXPECT_DOUBLE_EQ(ranks.p_value(0), 1);
  EXPECT_DOUBLE_EQ(ranks.surprise(5), -std::log(0.6));
}

TEST(Conformal, SurpriseGrowsByTheMeanExcessBeyondTheTail) {
  const ConformalRanks ranks(first_numbers(100));  // tail: 91 to 100, mean excess 4.5
  EXPECT_NEAR(ranks.surprise(1000) - ranks.surprise(991), 2, 1e-12);
  EXPECT_GT(ranks.surprise(92), ranks.surprise(91));
}

TEST(Conformal, AdaptiveStepIsTheOneOfThePaper) {
  AdaptiveConformal adaptive(first_numbers(99), 0.9, 0.1);
  EXPECT_EQ(adaptive.bound(), 90);
  adaptive.observe(1000, adaptive.bound());  // a miss: 0.1 + 0.1 (0.1 - 1) = 0.01
  EXPECT_EQ(adaptive.bound(), 1000);         // rank 99 of 2, ..., 99, 1000
  adaptive.observe(0.5, adaptive.bound());   // a hit: 0.02, rank 98 of 0.5, 3, ..., 99, 1000
  EXPECT_EQ(adaptive.bound(), 99);
}

TEST(Conformal, AdaptiveBoundsHoldAfterAShift) {
  std::vector<double> held;
  const RandomFunction random{1, Purpose::sampling, stream_of("conformal")};
  for (std::size_t i = 0; i < 200; ++i) held.push_back(std::abs(random.normal(i)));
  AdaptiveConformal adaptive(held, 0.9);
  const double fixed = conformal_quantile(held, 0.9);
  double covered = 0, covered_by_fixed = 0;
  for (std::size_t i = 0; i < 4000; ++i) {
    const double score = std::abs(random.normal(200 + i) + (i < 2000 ? 0 : 2));
    covered += score <= adaptive.bound(), covered_by_fixed += score <= fixed;
    adaptive.observe(score, adaptive.bound());
  }
  EXPECT_NEAR(covered / 4000, 0.9, 0.015);
  EXPECT_LT(covered_by_fixed / 4000, 0.7);
}

}  // namespace
}  // namespace bochner
