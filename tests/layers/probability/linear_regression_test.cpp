#include <gtest/gtest.h>

#include <bochner/layers/probability/conjugate.hpp>
#include <bochner/layers/probability/linear_regression.hpp>
#include <cmath>

namespace bochner {
namespace linear_regression_test {

const NormalGammaRegression prior{{0.5, -0.25}, {2, 0.5, 0.5, 1}, {1.5, 0.8}};
const std::vector<double> inputs{1, 0.5, 1, -1, 1, 2, 1, 0.25, 1, -2}, targets{1, -0.5, 2.5, 1, -1};

/// The evidence is the product of the predictive densities of one target after the other.
TEST(LinearRegression, EvidenceIsTheProductOfPredictions) {
  NormalGammaRegression now = prior;
  double sum = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::vector<double> row{inputs[2 * i], inputs[2 * i + 1]};
    sum += now.predictive(row).log_density({targets[i]});
    now = now.posterior(row, {targets[i]});
  }
  EXPECT_NEAR(prior.log_evidence(inputs, targets), sum, 1e-12);
  const NormalGammaRegression at_once = prior.posterior(inputs, targets);
  EXPECT_NEAR(at_once.mean[1], now.mean[1], 1e-12);
  EXPECT_NEAR(at_once.noise.rate, now.noise.rate, 1e-12);
}

/// With a constant input it is the normal-gamma family.
TEST(LinearRegression, OfAConstantIsTheNormalGammaFamily) {
  const NormalGammaRegression mean{{0.5}, {2}, {1.5, 0.8}};
  const std::vector<double> numbers{1, -0.3, 2};
  const StudentDistribution next = mean.posterior({1, 1, 1}, numbers).predictive({1});
  const StudentDistribution wanted =
      NormalGamma{0.5, 2, {1.5, 0.8}}.posterior(numbers).predictive();
  for (const double x : {-1.0, 0.6, 3.0})
    EXPECT_NEAR(next.log_density({x}), wanted.log_density({x}), 1e-12);
}

/// E tau is that of the exact posterior, and the bound falls short of the log evidence by the
/// divergence of q from the exact posterior: both are closed forms.
TEST(LinearRegression, MeanFieldIsTheBestProduct) {
  const NormalGammaRegression exact = prior.posterior(inputs, targets);
  const MeanFieldRegression q =
      fit_mean_field(prior, inputs, targets, {.rounds = 200, .tolerance = 0});
  ASSERT_GT(q.lower_bound.size(), 3u);
  for (std::size_t i = 1; i < q.lower_bound.size(); ++i)
    EXPECT_GE(q.lower_bound[i], q.lower_bound[i - 1] - 1e-12) << i;
  EXPECT_NEAR(q.noise.mean(), exact.noise.mean(), 1e-7);
  EXPECT_NEAR(q.weights.mean[0], exact.mean[0], 1e-14);
  // E_q of KL(q(w) || p(w | tau)): precisions of both are multiples of one matrix.
  Draws draws({7, Purpose::test, 1});
  double sum = 0, squares = 0;
  constexpr int count = 20000;
  for (int i = 0; i < count; ++i) {
    const double tau = q.noise.draw(draws);
    std::vector<double> covariance = inverse_of(exact.precision, 2);
    for (double& x : covariance) x /= tau;
    const double away =
        kl_divergence(q.weights, MultivariateNormalDistribution{exact.mean, covariance});
    sum += away, squares += away * away;
  }
  const double mean = sum / count, error = std::sqrt((squares / count - mean * mean) / count);
  const double gap = prior.log_evidence(inputs, targets) - q.lower_bound.back();
  EXPECT_NEAR(gap, mean + kl_divergence(q.noise, exact.noise), 5 * error);
  EXPECT_GT(gap, 10 * error);
}

TEST(LinearRegression, ChecksShapes) {
  EXPECT_THROW(prior.posterior(inputs, {1, 2}), std::invalid_argument);
  EXPECT_THROW(fit_mean_field(prior, {1, 2, 3}, {1}), std::invalid_argument);
}

}  // namespace linear_regression_test
}  // namespace bochner
