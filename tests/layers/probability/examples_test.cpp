#include <gtest/gtest.h>

#include <bochner/layers/probability/dirichlet_process.hpp>
#include <bochner/layers/probability/k_means.hpp>
#include <bochner/layers/probability/linear_regression.hpp>
#include <bochner/layers/probability/ppca.hpp>
#include <bochner/layers/probability/variational_mixture.hpp>
#include <cmath>

/// The examples of docs/probability.md.
namespace bochner {
namespace examples_test {

/// Two groups of rows along the diagonal.
std::vector<double> planted() {
  const RandomFunction random{1, Purpose::test, 1};
  std::vector<double> rows;
  for (std::size_t i = 0; i < 120; ++i) {
    const double along = random.normal(3 * i) + (i % 2 == 0 ? -4 : 4);
    rows.push_back(along + 0.5 * random.normal(3 * i + 1));
    rows.push_back(along + 0.5 * random.normal(3 * i + 2));
  }
  return rows;
}

TEST(ProbabilityExamples, Divergence) {
  const MultivariateNormalDistribution p{{0, 0}, {1, 0.5, 0.5, 1}}, q{{1, 0}, {1, 0, 0, 1}};
  const double nats = kl_divergence(p, q);
  EXPECT_NEAR(nats, 0.5 - std::log(0.75) / 2, 1e-12);
}

TEST(ProbabilityExamples, Conjugate) {
  const ParetoUniform seen = ParetoUniform{{1, 0.5}}.posterior({2, 7, 3});
  const double log_p = seen.log_predictive(6);
  EXPECT_NEAR(log_p, std::log(4.0 / 35), 1e-12);
}

TEST(ProbabilityExamples, Regression) {
  const std::vector<double> inputs{1, 0, 1, 1, 1, 2, 1, 3}, targets{1, 3.1, 4.9, 7};
  const NormalGammaRegression prior{{0, 0}, {1, 0, 0, 1}};
  const StudentDistribution next = prior.posterior(inputs, targets).predictive({1, 1.5});
  const MeanFieldRegression product = fit_mean_field(prior, inputs, targets);
  EXPECT_NEAR(next.mean[0], 4, 0.5);
  EXPECT_LT(product.lower_bound.back(), prior.log_evidence(inputs, targets));
}

TEST(ProbabilityExamples, Mixture) {
  const std::vector<double> rows = planted();
  const WeightedRows data{2, rows};
  const FittedMixture fitted = fit_mixture(data, initial_mixture(data, 2));
  for (const GaussianComponent& part : fitted.mixture.components)
    EXPECT_NEAR(std::fabs(part.mean[0]), 4, 0.5);
}

TEST(ProbabilityExamples, Variational) {
  const std::vector<double> rows = planted();
  const std::size_t K = 6;
  const MixturePrior prior = default_mixture_prior(rows, 2, 0.01);
  const Clusters start = k_means(rows, 2, K);
  const VariationalMixture fit =
      fit_variational_mixture(prior, rows, hard_responsibilities(start.labels, K));
  const LabelPosterior labels = label_posterior(fit.predictive(), rows);
  std::size_t used = 0;
  for (const double share : fit.shares()) used += share > 0.05;
  EXPECT_EQ(used, 2u);
  EXPECT_EQ(labels.log_density.size(), 120u);
}

TEST(ProbabilityExamples, Ppca) {
  const std::vector<double> rows = planted();
  const ProbabilisticPca model = fit_ppca(rows, 2, 1);
  const std::vector<double> z = model.latents(rows), logs = model.log_densities(rows);
  EXPECT_NEAR(std::fabs(model.loadings[0] / model.loadings[1]), 1, 0.1);
  EXPECT_EQ(z.size(), logs.size());
}

TEST(ProbabilityExamples, DirichletProcess) {
  const std::vector<double> rows = planted();
  const DirichletProcess process{0.5, {{0, 0}, 0.05, 4, {1, 0, 0, 1}}};
  const auto sampler = collapsed_gibbs_sampler(process, rows, {1, Purpose::sampling, 2});
  const std::size_t K = count_components(*sampler, 200, 0.05);
  EXPECT_EQ(K, 2u);
}

}  // namespace examples_test
}  // namespace bochner
