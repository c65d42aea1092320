#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/base/numeric/softmax_regression.hpp>
#include <cmath>

namespace bochner {
namespace softmax_regression_test {

constexpr std::size_t n = 60, F = 3, K = 3;

/// Rows of two features and 1, whose class depends on the first one with noise.
ClassedFeatures noisy_classes() {
  Draws draws({2});
  ClassedFeatures rows{F, K};
  for (std::size_t i = 0; i < n; ++i) {
    const double x = draws.normal();
    rows.values.insert(rows.values.end(), {x, draws.normal(), 1});
    rows.labels.push_back(std::size_t(std::clamp(x + 0.7 * draws.normal() + 1.5, 0.0, 2.9)));
  }
  return rows;
}

double penalized(const ClassedFeatures& rows, double penalty, const std::vector<double>& w) {
  double value = log_loss(softmax_probabilities(F, K, rows.values, w), rows.labels);
  for (std::size_t i = 0; i < (F - 1) * K; ++i) value += penalty / 2 * w[i] * w[i];
  return value;
}

TEST(SoftmaxRegression, ProbabilitiesOfTwoClassesAreLogistic) {
  const std::vector<double> values = {0.3, 1, -2, 1}, weights = {1, -0.5, 0.2, 0.1};
  const std::vector<double> p = softmax_probabilities(2, 2, values, weights);
  EXPECT_NEAR(p[0], 1 / (1 + std::exp(-(0.3 * 1.5 + 0.1))), 1e-15);
  EXPECT_NEAR(p[3], 1 / (1 + std::exp(-(2 * 1.5 - 0.1))), 1e-15);
  EXPECT_NEAR(log_loss(p, {0, 1}), -(std::log(p[0]) + std::log(p[3])) / 2, 1e-15);
}

TEST(SoftmaxRegression, NoStepLowersTheLossOfTheFit) {
  const ClassedFeatures rows = noisy_classes();
  for (const double penalty : {1e-3, 0.1}) {
    std::vector<double> w = fit_softmax(rows, penalty, std::vector<double>(F * K));
    const double least = penalized(rows, penalty, w);
    for (double& x : w)
      for (const double step : {-0.01, 0.01}) {
        x += step;
        EXPECT_GT(penalized(rows, penalty, w), least - 1e-7);
        x -= step;
      }
    EXPECT_LT(least, penalized(rows, penalty, std::vector<double>(F * K)) - 0.1);
  }
}

TEST(SoftmaxRegression, AStrongPenaltyLeavesTheSharesOfTheClasses) {
  const ClassedFeatures rows = noisy_classes();
  const std::vector<double> w = fit_softmax(rows, 1e4, std::vector<double>(F * K)),
                            p = softmax_probabilities(F, K, rows.values, w);
  for (std::size_t k = 0; k < K; ++k)
    EXPECT_NEAR(p[k], double(std::ranges::count(rows.labels, k)) / double(n), 1e-3);
}

TEST(SoftmaxRegression, ChoosesRows) {
  const ClassedFeatures some = noisy_classes().rows({3, 1});
  EXPECT_EQ(some.size(), 2u);
  EXPECT_EQ(some.values[F], noisy_classes().values[F]);
}

}  // namespace softmax_regression_test
}  // namespace bochner
