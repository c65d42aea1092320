#include <gtest/gtest.h>

#include <bochner/layers/probability/distributions.hpp>
#include <cmath>
#include <functional>

namespace bochner {
namespace distributions_test {

Draws draws_of(std::uint64_t stream) { return Draws({7, Purpose::test, stream}); }

/// By the midpoint rule in u, x = map(u).
double integral(const std::function<double(double)>& f, double low, double high) {
  constexpr int points = 200000;
  double sum = 0;
  for (int i = 0; i < points; ++i) sum += f(low + (high - low) * (i + 0.5) / points);
  return sum * (high - low) / points;
}

/// Integrates to one, and the entropy is -E ln p.
template <class P>
void expect_density(const P& p, double low, double high) {
  const auto density = [&](double x) { return std::exp(p.log_density(x)); };
  EXPECT_NEAR(integral(density, low, high), 1, 1e-6);
  EXPECT_NEAR(
      integral([&](double x) { return density(x) > 0 ? -density(x) * p.log_density(x) : 0; }, low,
               high),
      p.entropy(), 1e-5);
}

TEST(Distributions, OfOneNumberIntegrateToOne) {
  expect_density(NormalDistribution{1, 0.7}, -8, 10);
  expect_density(GammaDistribution{2.5, 1.5}, 0, 40);
  expect_density(BetaDistribution{2.5, 1.5}, 0, 1);
  expect_density(ParetoDistribution{9, 2}, 2, 60);
  EXPECT_EQ(GammaDistribution().log_density(-1), -INFINITY);
  EXPECT_EQ(BetaDistribution().log_density(1), -INFINITY);
  EXPECT_EQ(ParetoDistribution().log_density(0.9), -INFINITY);
}

TEST(Distributions, StudentsIntegratesToOne) {
  const StudentDistribution p{5, {1}, {0.49}};
  const auto density = [&](double x) { return std::exp(p.log_density({x})); };
  EXPECT_NEAR(integral(density, -300, 300), 1, 1e-6);
  EXPECT_NEAR(integral([&](double x) { return -density(x) * p.log_density({x}); }, -300, 300),
              p.entropy(), 1e-5);
}

TEST(Distributions, OfSeveralNumbersAreThoseOfOne) {
  const BetaDistribution beta{2.5, 1.5};
  const DirichletDistribution two{{2.5, 1.5}};
  EXPECT_NEAR(two.log_density({0.3, 0.7}), beta.log_density(0.3), 1e-12);
  EXPECT_NEAR(two.entropy(), beta.entropy(), 1e-12);
  const GammaDistribution gamma{3.5, 1 / 1.6};  // of half the degrees, twice the scale
  const WishartDistribution one{7, {0.8}};
  EXPECT_NEAR(one.log_density({2.0}), gamma.log_density(2), 1e-12);
  EXPECT_NEAR(one.entropy(), gamma.entropy(), 1e-12);
  EXPECT_NEAR(kl_divergence(one, WishartDistribution{4, {0.3}}),
              kl_divergence(gamma, GammaDistribution{2, 1 / 0.6}), 1e-12);
  const NormalDistribution normal{0.5, 0.7};
  const MultivariateNormalDistribution alone{{0.5}, {0.49}};
  EXPECT_NEAR(alone.log_density({2}), normal.log_density(2), 1e-12);
  EXPECT_NEAR(alone.entropy(), normal.entropy(), 1e-12);
  EXPECT_NEAR(kl_divergence(alone, MultivariateNormalDistribution{{-1}, {4}}),
              kl_divergence(normal, NormalDistribution{-1, 2}), 1e-12);
}

/// E ln |X| of a Wishart distribution of one dimension is E ln x of a gamma distribution.
TEST(Distributions, ExpectedLogDeterminantIsItsIntegral) {
  const WishartDistribution p{7, {0.8}};
  EXPECT_NEAR(integral([&](double x) { return std::log(x) * std::exp(p.log_density({x})); }, 0, 60),
              p.expected_log_determinant(), 1e-6);
}

double log_of(const CategoricalDistribution& p, const CategoricalDistribution& q) {
  double sum = 0;
  for (std::size_t k = 0; k < p.p.size(); ++k) sum += p.p[k] * std::log(p.p[k] / q.p[k]);
  return sum;
}

constexpr std::size_t draw_count = 20000;

/// -E ln p by draws, to 5 sigma.
template <class P>
void expect_entropy(const P& p, std::uint64_t stream) {
  constexpr std::size_t count = draw_count;
  Draws draws = draws_of(stream);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double log_density = p.log_density(p.draw(draws));
    sum += log_density, squares += log_density * log_density;
  }
  const double mean = sum / count, deviation = std::sqrt(squares / count - mean * mean);
  EXPECT_NEAR(-mean, p.entropy(), 5 * deviation / std::sqrt(double(count)));
}

/// -E ln p by draws is the entropy, and E ln p / q the divergence, to 5 sigma: draws, densities,
/// entropies and divergences are of one distribution.
template <class P>
void expect_draws(const P& p, const P& q, std::uint64_t stream) {
  expect_entropy(p, stream);
  EXPECT_NEAR(kl_divergence(p, p), 0, 1e-12);
  const Estimate estimate = estimate_kl_divergence(p, q, draws_of(stream), draw_count);
  EXPECT_GT(kl_divergence(p, q), 0.01);
  EXPECT_NEAR(estimate.mean, kl_divergence(p, q), 5 * estimate.error);
}

TEST(Distributions, DrawsAreOfTheDensity) {
  expect_draws(NormalDistribution{1, 0.7}, NormalDistribution{0.5, 1.2}, 1);
  expect_draws(GammaDistribution{0.4, 1.5}, GammaDistribution{0.7, 1}, 2);
  expect_draws(GammaDistribution{5, 2}, GammaDistribution{4, 1}, 3);
  expect_draws(BetaDistribution{0.6, 2}, BetaDistribution{1, 1}, 4);
  expect_draws(DirichletDistribution{{0.8, 2, 3}}, DirichletDistribution{{1, 1, 1}}, 5);
  expect_draws(CategoricalDistribution{{0.2, 0.5, 0.3}}, CategoricalDistribution{{0.4, 0.4, 0.2}},
               6);
  expect_draws(WishartDistribution{5.5, {1, 0.3, 0.3, 0.5}},
               WishartDistribution{4, {0.7, 0, 0, 0.7}}, 7);
  expect_draws(MultivariateNormalDistribution{{1, -1}, {1, 0.4, 0.4, 0.6}},
               MultivariateNormalDistribution{{0, 0}, {2, -0.3, -0.3, 1}}, 10);
  expect_draws(ParetoDistribution{3, 2}, ParetoDistribution{2, 1.5}, 11);
}

TEST(Distributions, StudentsDrawsAreOfItsDensity) {
  const StudentDistribution p{4, {1, -1}, {1, 0.4, 0.4, 0.6}}, q{9, {0, 0}, {1, 0, 0, 1}};
  expect_entropy(p, 8);
  EXPECT_GT(estimate_kl_divergence(p, q, draws_of(9), draw_count).mean, 0.1);
  EXPECT_EQ(estimate_kl_divergence(p, p, draws_of(9), 100).mean, 0);
}

/// Closed forms by hand.
TEST(Distributions, DivergencesAreTheClosedForms) {
  EXPECT_NEAR(kl_divergence(NormalDistribution{2, 1}, NormalDistribution{0, 1}), 2, 1e-14);
  EXPECT_NEAR(kl_divergence(GammaDistribution{1, 3}, GammaDistribution{1, 1}),
              std::log(3.0) + 1.0 / 3 - 1, 1e-14);
  const CategoricalDistribution p{{0.25, 0.75}}, q{{0.5, 0.5}};
  EXPECT_NEAR(kl_divergence(p, q), log_of(p, q), 1e-14);
  EXPECT_EQ(kl_divergence(CategoricalDistribution{{1, 0}}, CategoricalDistribution{{0, 1}}),
            INFINITY);
  EXPECT_NEAR(kl_divergence(ParetoDistribution{2, 1}, ParetoDistribution{1, 1}),
              std::log(2.0) - 0.5, 1e-14);
  EXPECT_EQ(kl_divergence(ParetoDistribution{2, 1}, ParetoDistribution{2, 1.1}), INFINITY);
}

}  // namespace distributions_test
}  // namespace bochner
