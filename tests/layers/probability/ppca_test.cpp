#include <gtest/gtest.h>

#include <bochner/layers/probability/distributions.hpp>
#include <bochner/layers/probability/ppca.hpp>
#include <cmath>

namespace bochner {
namespace ppca_test {

RandomFunction random_of(std::uint64_t stream) { return {7, Purpose::test, stream}; }

/// Rows of five dimensions with two factors.
std::vector<double> planted(std::size_t n) {
  const double W[5][2] = {{2, 0}, {0, 1}, {1, 1}, {0, -1}, {0.5, 2}};
  std::vector<double> rows;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < 5; ++j)
      rows.push_back(double(j) + W[j][0] * random_of(1).normal(2 * i) +
                     W[j][1] * random_of(1).normal(2 * i + 1) +
                     0.4 * random_of(2).normal(5 * i + j));
  return rows;
}

double mean_of(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double x : numbers) sum += x;
  return sum / double(numbers.size());
}

TEST(Ppca, LikelihoodIsOfTheNormalDistribution) {
  const std::vector<double> rows = planted(60);
  const ProbabilisticPca model = fit_ppca(rows, 5, 2);
  const MultivariateNormalDistribution normal{model.mean, model.covariance()};
  const std::vector<double> logs = model.log_densities(rows);
  for (std::size_t i = 0; i < 60; ++i)
    EXPECT_NEAR(logs[i], normal.log_density({rows.data() + 5 * i, rows.data() + 5 * i + 5}), 1e-10);
}

TEST(Ppca, ClosedFormIsTheBestOfTheMixtures) {
  const std::vector<double> rows = planted(60);
  const ProbabilisticPca model = fit_ppca(rows, 5, 2);
  const WeightedRows table{5, rows};
  const FittedMixture mixture = fit_mixture(table, initial_mixture(table, 1), {.factors = 2});
  EXPECT_NEAR(mean_of(model.log_densities(rows)), mixture.log_likelihood.back(), 1e-10);
  const std::vector<double> covariance = model.covariance();
  for (std::size_t i = 0; i < 25; ++i)
    EXPECT_NEAR(covariance[i], mixture.mixture.components[0].covariance[i], 1e-9);
}

TEST(Ppca, EmAscendsToTheClosedForm) {
  for (const std::size_t factors : {1u, 2u, 4u}) {
    const std::vector<double> rows = planted(60);
    const ProbabilisticPca exact = fit_ppca(rows, 5, factors);
    const PcaByEm em = fit_ppca_by_em(rows, 5, factors, random_of(3), 20000, 1e-15);
    for (std::size_t i = 1; i < em.log_likelihood.size(); ++i)
      EXPECT_GE(em.log_likelihood[i], em.log_likelihood[i - 1] - 1e-11) << i;
    EXPECT_GT(em.log_likelihood.back(), em.log_likelihood[0] + 0.1);
    EXPECT_NEAR(em.log_likelihood.back(), mean_of(exact.log_densities(rows)), 1e-8) << factors;
    EXPECT_NEAR(em.log_likelihood.back(), mean_of(em.model.log_densities(rows)), 1e-10);
    const std::vector<double> found = em.model.covariance(), wanted = exact.covariance();
    for (std::size_t i = 0; i < 25; ++i) EXPECT_NEAR(found[i], wanted[i], 1e-4) << factors;
  }
}

/// The posterior of z maximises ln p(x, z) = -|x - mean - W z|^2 / (2 noise) - |z|^2 / 2.
TEST(Ppca, LatentsAreThePosteriorMeans) {
  const std::vector<double> rows = planted(20);
  const ProbabilisticPca model = fit_ppca(rows, 5, 2);
  const std::vector<double> z = model.latents(rows);
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t f = 0; f < 2; ++f) {
      double slope = -z[2 * i + f];
      for (std::size_t j = 0; j < 5; ++j) {
        double residual = rows[5 * i + j] - model.mean[j];
        for (std::size_t g = 0; g < 2; ++g) residual -= model.loadings[2 * j + g] * z[2 * i + g];
        slope += model.loadings[2 * j + f] * residual / model.noise;
      }
      EXPECT_NEAR(slope, 0, 1e-10);
    }
}

TEST(Ppca, RefusesAsManyFactorsAsDimensions) {
  EXPECT_THROW(fit_ppca(planted(20), 5, 5), std::invalid_argument);
  EXPECT_THROW(fit_ppca_by_em(planted(20), 5, 0, random_of(1)), std::invalid_argument);
}

}  // namespace ppca_test
}  // namespace bochner
