#include <gtest/gtest.h>

#include <bochner/layers/probability/conjugate.hpp>
#include <cmath>
#include <functional>
#include <numbers>

namespace bochner {
namespace conjugate_test {

double integral(const std::function<double(double)>& f, double low, double high) {
  constexpr int points = 100000;
  double sum = 0;
  for (int i = 0; i < points; ++i) sum += f(low + (high - low) * (i + 0.5) / points);
  return sum * (high - low) / points;
}

TEST(Conjugate, BetaBernoulliIsItsIntegral) {
  const BetaBernoulli seen = BetaBernoulli{{1.5, 2}}.posterior(3, 1);
  const auto likelihood = [](double p) { return p * p * p * (1 - p); };
  const auto prior = [](double p) { return std::exp(BetaDistribution{1.5, 2}.log_density(p)); };
  const double evidence = integral([&](double p) { return prior(p) * likelihood(p); }, 0, 1);
  EXPECT_NEAR(seen.predictive(),
              integral([&](double p) { return p * prior(p) * likelihood(p); }, 0, 1) / evidence,
              1e-8);
  EXPECT_NEAR(std::exp(seen.prior.log_density(0.4)), prior(0.4) * likelihood(0.4) / evidence, 1e-6);
}

TEST(Conjugate, DirichletCategoricalCounts) {
  const DirichletCategorical seen = DirichletCategorical{{{0.5, 1, 1.5}}}.posterior({4, 0, 1});
  const CategoricalDistribution next = seen.predictive();
  EXPECT_NEAR(next.p[0], 4.5 / 8, 1e-15);
  EXPECT_NEAR(next.p[1], 1.0 / 8, 1e-15);
  EXPECT_NEAR(next.p[2], 2.5 / 8, 1e-15);
}

TEST(Conjugate, GammaPoissonIsItsIntegral) {
  const GammaPoisson seen = GammaPoisson{{2.5, 1.5}}.posterior({3, 0, 4});
  EXPECT_EQ(seen.prior.shape, 9.5);
  EXPECT_EQ(seen.prior.rate, 4.5);
  double all = 0;
  for (std::size_t k = 0; k < 60; ++k) all += std::exp(seen.log_predictive(k));
  EXPECT_NEAR(all, 1, 1e-12);
  const auto poisson = [](std::size_t k, double rate) {
    return std::exp(double(k) * std::log(rate) - rate - std::lgamma(double(k) + 1));
  };
  for (const std::size_t k : {0u, 2u, 7u})
    EXPECT_NEAR(
        std::exp(seen.log_predictive(k)),
        integral(
            [&](double rate) { return poisson(k, rate) * std::exp(seen.prior.log_density(rate)); },
            0, 30),
        1e-8);
}

/// The posterior and the predictive density are integrals over the upper end.
TEST(Conjugate, ParetoUniformIsItsIntegral) {
  const ParetoUniform prior{{2.5, 1.2}}, seen = prior.posterior({0.4, 2, 1.1});
  EXPECT_EQ(seen.prior.shape, 5.5);
  EXPECT_EQ(seen.prior.scale, 2);
  const auto uniform = [](double x, double end) { return x <= end ? 1 / end : 0.0; };
  for (const double x : {0.3, 2.0, 3.0})
    EXPECT_NEAR(
        std::exp(seen.log_predictive(x)),
        integral(
            [&](double end) { return uniform(x, end) * std::exp(seen.prior.log_density(end)); }, 2,
            200),
        2e-4);
  const double numbers = prior.log_predictive(0.4) + prior.posterior({0.4}).log_predictive(2) +
                         prior.posterior({0.4, 2}).log_predictive(1.1);
  const double evidence = integral(
      [&](double end) {
        return uniform(0.4, end) * uniform(2, end) * uniform(1.1, end) *
               std::exp(prior.prior.log_density(end));
      },
      1.2, 40);
  EXPECT_NEAR(std::exp(numbers), evidence, 1e-5);
  EXPECT_EQ(seen.log_predictive(-1), -INFINITY);
}

/// The predictive density is the mean of N(x; mean, 1 / precision) over the prior: the mean has
/// gone in closed form, the precision by quadrature.
TEST(Conjugate, NormalGammaIsItsIntegral) {
  const NormalGamma seen = NormalGamma{0.5, 2, {1.5, 0.8}}.posterior({1, -0.3, 2});
  const StudentDistribution next = seen.predictive();
  for (const double x : {-1.0, 0.6, 3.0}) {
    const auto given = [&](double precision) {
      const double variance = (1 + 1 / seen.strength) / precision;
      return std::exp(NormalDistribution{seen.mean, std::sqrt(variance)}.log_density(x) +
                      seen.precision.log_density(precision));
    };
    EXPECT_NEAR(std::exp(next.log_density({x})), integral(given, 0, 60), 1e-7);
  }
}

/// ln p of numbers one after the other does not depend on their order, and in one dimension both
/// families are one.
TEST(Conjugate, NormalWishartIsNormalGammaOfOneDimension) {
  const std::vector<double> numbers{1, -0.3, 2, 0.1};
  NormalGamma gamma{0.5, 2, {1.5, 0.8}};
  NormalWishart wishart{{0.5}, 2, 3, {1.6}};
  for (const double x : numbers) {
    EXPECT_NEAR(gamma.predictive().log_density({x}), wishart.predictive().log_density({x}), 1e-12);
    gamma = gamma.posterior({x});
    wishart.add(&x);
  }
}

TEST(Conjugate, NormalWishartPredictsTheProductOfItsEvidence) {
  const std::vector<double> rows{1, 0, -0.3, 2, 2, 2, 0.1, -1};
  const NormalWishart prior{{0.2, -0.1}, 0.7, 3.5, {1, 0.3, 0.3, 0.8}};
  for (const bool backwards : {false, true}) {
    NormalWishart now = prior;
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const double* row = rows.data() + 2 * (backwards ? 3 - i : i);
      sum += now.predictive().log_density({row[0], row[1]});
      now.add(row);
    }
    EXPECT_NEAR(sum, now.log_integral() - prior.log_integral() - 4 * std::log(std::numbers::pi),
                1e-10);
    for (std::size_t i = 0; i < 4; ++i) now.remove(rows.data() + 2 * i);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(now.mean[i], prior.mean[i], 1e-12);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(now.squares[i], prior.squares[i], 1e-12);
    EXPECT_NEAR(now.strength, prior.strength, 1e-12);
    EXPECT_NEAR(now.degrees, prior.degrees, 1e-12);
  }
}

/// KL(p || q) is the difference of E_p ln p and E_p ln q of draws, to 5 sigma.
TEST(Conjugate, NormalWishartDivergenceIsItsExpectation) {
  const NormalWishart p{{0.2, -0.1}, 1.5, 6, {2, 0.3, 0.3, 1}}, q{{0, 0.5}, 0.7, 4, {1, 0, 0, 1.5}};
  Draws draws({7, Purpose::test, 12});
  constexpr int count = 20000;
  double sum = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    const std::vector<double> precision = p.precision().draw(draws);
    const auto given = [&](const NormalWishart& one) {
      std::vector<double> covariance = inverse_of(precision, 2);
      for (double& x : covariance) x /= one.strength;
      return MultivariateNormalDistribution{one.mean, covariance};
    };
    const std::vector<double> mean = given(p).draw(draws);
    const double ratio = given(p).log_density(mean) - given(q).log_density(mean) +
                         p.precision().log_density(precision) -
                         q.precision().log_density(precision);
    sum += ratio, squares += ratio * ratio;
  }
  const double error = std::sqrt((squares / count - sum * sum / count / count) / count);
  EXPECT_NEAR(kl_divergence(p, q), sum / count, 5 * error);
  EXPECT_GT(kl_divergence(p, q), 20 * error);
  EXPECT_NEAR(kl_divergence(p, p), 0, 1e-12);
}

/// Of weighted rows the posterior is that of rows added one by one.
TEST(Conjugate, NormalWishartTakesRowsAtOnce) {
  const NormalWishart prior{{0.2, -0.1}, 0.7, 3.5, {1, 0.3, 0.3, 0.8}};
  const double rows[] = {1, 0, 0, 2};
  NormalWishart one_by_one = prior;
  one_by_one.add(rows), one_by_one.add(rows + 2);
  const NormalWishart at_once = prior.posterior(2, {0.5, 1}, {0.5, -1, -1, 2});
  EXPECT_NEAR(kl_divergence(at_once, one_by_one), 0, 1e-12);
  EXPECT_NEAR(at_once.log_integral(), one_by_one.log_integral(), 1e-12);
  EXPECT_NEAR(at_once.expected_covariance()[3], at_once.squares[3] / 2.5, 1e-15);
}

}  // namespace conjugate_test
}  // namespace bochner
