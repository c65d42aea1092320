#include <gtest/gtest.h>

#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/spectral/monte_carlo.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace monte_carlo_test {

/// exp(w . z - |z|^2 / 2) at z = (0.6, 0.3): mean 1, variance e^|z|^2 - 1.
constexpr double z[] = {0.6, 0.3};
double term(std::span<const double> w) {
  return std::exp(w[0] * z[0] + w[1] * z[1] - (z[0] * z[0] + z[1] * z[1]) / 2);
}
constexpr double square = 0.45;

MonteCarlo method() { return {.dim = 2, .points = 64, .sets = 4000}; }

/// Within 5 % of variances that 4000 sets estimate to 2 %.
TEST(MonteCarlo, HasTheVariancesOfItsClosedForms) {
  const auto check = [](const MonteCarlo& how, double variance, const char* name) {
    const MonteCarloReport report = estimate(how, term);
    EXPECT_LT(std::abs(report.mean - 1), 5 * report.standard_error) << name;
    EXPECT_NEAR(report.variance, variance, 0.1 * variance) << name;
  };
  check(method(), std::expm1(square), "plain");
  MonteCarlo antithetic = method();
  antithetic.antithetic = true;
  // 2 Var (f(w) + f(-w)) / 2 at equal points: e^|z|^2 + e^-|z|^2 - 2.
  check(antithetic, std::exp(square) + std::exp(-square) - 2, "antithetic");
  MonteCarlo control = method();
  control.control = [](std::span<const double> w) { return w[0] * z[0] + w[1] * z[1]; };
  check(control, std::expm1(square) - square, "control");  // E f (w . z) = |z|^2
  MonteCarlo importance = method();
  importance.scale = 1.2;
  const GaussianAxes p{{0, 0}, {0, 0}}, q{{0, 0}, {std::log(1.2), std::log(1.2)}};
  const double second = importance_moment(p, q)(2, {z[0], z[1]}) * std::exp(-square);
  check(importance, second - 1, "importance");
}

TEST(MonteCarlo, QuasiRandomSetsVaryLessAndWeightsLeaveFewerPoints) {
  MonteCarlo how = method();
  how.sets = 200, how.scale = 1.5;
  how.control = [](std::span<const double> w) { return w[0]; };
  const auto reports = compare_methods(how, term);
  ASSERT_EQ(reports.size(), 5u);
  EXPECT_EQ(reports[4].name, "quasi");
  EXPECT_LT(reports[4].report.variance, 0.2 * reports[0].report.variance);
  EXPECT_NEAR(reports[0].report.effective_points, 64, 1e-9);
  // m (sqrt(2 s^2 - 1) / s^2)^d
  EXPECT_NEAR(reports[3].report.effective_points, 64 * (2 * 2.25 - 1) / (2.25 * 2.25), 4);
  for (const auto& [name, report] : reports)
    EXPECT_LT(std::abs(report.mean - 1), 5 * report.standard_error) << name;
}

TEST(MonteCarlo, RefusesWhatMakesNoSense) {
  MonteCarlo how = method();
  how.sets = 1;
  EXPECT_THROW(estimate(how, term), std::invalid_argument);
  how = method();
  how.points = 63, how.antithetic = true;
  EXPECT_THROW(estimate(how, term), std::invalid_argument);
}

}  // namespace monte_carlo_test
}  // namespace bochner::inline BOCHNER_PRECISION
