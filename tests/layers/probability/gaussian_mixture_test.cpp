#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/openblas.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/layers/probability/gaussian_mixture.hpp>
#include <cmath>
#include <limits>
#include <numbers>

namespace bochner {
namespace gaussian_mixture_test {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

RandomFunction random_of(std::uint64_t stream) { return {7, Purpose::test, stream}; }

/// Two planted components of five dimensions, each of one factor; `lost` of the entries are
/// missing.
struct Planted {
  std::vector<std::vector<double>> means{{0, 0, 0, 0, 0}, {3, -3, 0, 3, 0}};
  std::vector<std::vector<double>> factors{{2, 0, 1, 0, 0}, {0, 1, 0, 0, 2}};
  double noise = 0.3;

  WeightedRows rows(std::size_t n, double lost) const {
    const RandomFunction random = random_of(1);
    WeightedRows rows{5, {}};
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t k = random.uniform(100 * i) < 0.3 ? 0 : 1;
      const double latent = random.normal(100 * i + 1);
      for (std::size_t j = 0; j < 5; ++j) {
        const double x =
            means[k][j] + factors[k][j] * latent + noise * random.normal(100 * i + 2 + j);
        rows.values.push_back(random.uniform(100 * i + 50 + j) < lost ? nan : x);
      }
    }
    return rows;
  }
};

TEST(GaussianMixture, LikelihoodNeverFalls) {
  for (const double lost : {0.0, 0.2})
    for (const MixtureOptions& how :
         {MixtureOptions{}, MixtureOptions{.factors = 1}, MixtureOptions{.least_variance = 0.2},
          MixtureOptions{.factors = 2, .least_variance = 0.05, .uniform_density = 1e-4}}) {
      const WeightedRows rows = Planted().rows(300, lost);
      GaussianMixture start = initial_mixture(rows, 3);
      if (how.uniform_density > 0) start.background = 0.1;
      const FittedMixture learned = fit_mixture(rows, start, how);
      const auto& path = learned.log_likelihood;
      ASSERT_GT(path.size(), 5u);
      for (std::size_t i = 1; i < path.size(); ++i) EXPECT_GE(path[i], path[i - 1] - 1e-10) << i;
      EXPECT_GT(path.back(), path.front() + 0.1);
      double shares = learned.mixture.background;
      for (const GaussianComponent& one : learned.mixture.components) shares += one.share;
      EXPECT_NEAR(shares, 1, 1e-12);
    }
}

/// Labels of rows are as likely as the densities say, and ln p is that of the last round.
TEST(GaussianMixture, LabelsFollowTheDensities) {
  const WeightedRows rows = Planted().rows(300, 0.1);
  for (const std::size_t starts : {0u, 1u}) {
    const FittedMixture learned = fit_mixture(
        rows, starts == 0 ? initial_mixture(rows, 2) : initial_mixture(rows, 2, random_of(3)));
    const LabelPosterior labels = label_posterior(learned.mixture, rows);
    double sum = 0;
    std::size_t sure = 0;
    for (std::size_t i = 0; i < 300; ++i) {
      sum += labels.log_density[i] / 300;
      const double first = labels.responsibilities[2 * i];
      EXPECT_NEAR(first + labels.responsibilities[2 * i + 1], 1, 1e-12);
      sure += first < 0.01 || first > 0.99;
    }
    EXPECT_NEAR(sum, learned.log_likelihood.back(), 1e-12);
    EXPECT_GT(sure, 250u);
  }
}

/// Tipping, Bishop, "Probabilistic principal component analysis", 1999, (7) and (8).
TEST(GaussianMixture, PrincipalComponentsAreTheEigenSolution) {
  const WeightedRows rows = Planted().rows(200, 0);
  const std::size_t d = 5, q = 2, n = 200;
  std::vector<double> mean(d), scatter(d * d);
  for (std::size_t i = 0; i < n * d; ++i) mean[i % d] += rows.values[i] / double(n);
  for (std::size_t row = 0; row < n; ++row)
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = 0; j < d; ++j)
        scatter[i * d + j] +=
            (rows.values[row * d + i] - mean[i]) * (rows.values[row * d + j] - mean[j]) / double(n);
  const SymmetricEigen eigen = symmetric_eigen(scatter, d);
  const double noise = (eigen.values[0] + eigen.values[1] + eigen.values[2]) / 3;
  const FittedMixture learned = fit_mixture(rows, initial_mixture(rows, 1), {.factors = q});
  const GaussianComponent& found = learned.mixture.components[0];
  const std::vector<double> w = loadings(found, q);
  for (std::size_t i = 0; i < d; ++i) {
    EXPECT_NEAR(found.mean[i], mean[i], 1e-10);
    for (std::size_t f = 0; f < q; ++f) {
      const std::size_t v = d - 1 - f;
      const double length = std::sqrt(eigen.values[v] - noise);
      EXPECT_NEAR(std::abs(w[i * q + f]), length * std::abs(eigen.vectors[i * d + v]), 1e-8);
    }
    for (std::size_t j = 0; j < d; ++j) {
      double low_rank = i == j ? noise : 0;
      for (std::size_t f = 0; f < q; ++f) low_rank += w[i * q + f] * w[j * q + f];
      EXPECT_NEAR(found.covariance[i * d + j], low_rank, 1e-10);
    }
  }
  const double expected = -(double(d) * std::log(2 * std::numbers::pi) + std::log(eigen.values[4]) +
                            std::log(eigen.values[3]) + 3 * std::log(noise) + double(d)) /
                          2;
  EXPECT_NEAR(learned.log_likelihood.back(), expected, 1e-10);
}

/// Where the second coordinate is missing, the maximum is a regression: Anderson, 1957.
TEST(GaussianMixture, MissingEntriesGiveTheMaximumOfWhatIsSeen) {
  const RandomFunction random = random_of(2);
  WeightedRows rows{2, {}};
  const std::size_t n = 60, known = 35;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = random.normal(3 * i);
    rows.values.push_back(x);
    rows.values.push_back(i < known ? 1 + 2 * x + 0.5 * random.normal(3 * i + 1) : nan);
  }
  const auto moments = [&](std::size_t count, std::size_t a, std::size_t b) {
    double mean_a = 0, mean_b = 0, product = 0;
    for (std::size_t i = 0; i < count; ++i) {
      mean_a += rows.values[2 * i + a] / double(count);
      mean_b += rows.values[2 * i + b] / double(count);
      product += rows.values[2 * i + a] * rows.values[2 * i + b] / double(count);
    }
    return std::pair(mean_a, product - mean_a * mean_b);
  };
  const double slope = moments(known, 0, 1).second / moments(known, 0, 0).second;
  const auto [mean, variance] = moments(n, 0, 0);
  const double rest = moments(known, 1, 1).second - slope * slope * moments(known, 0, 0).second;
  const GaussianComponent found =
      fit_mixture(rows, initial_mixture(rows, 1), {.tolerance = 1e-15}).mixture.components[0];
  EXPECT_NEAR(found.mean[0], mean, 1e-10);
  EXPECT_NEAR(found.mean[1],
              moments(known, 1, 1).first + slope * (mean - moments(known, 0, 0).first), 1e-6);
  EXPECT_NEAR(found.covariance[0], variance, 1e-10);
  EXPECT_NEAR(found.covariance[1], slope * variance, 1e-6);
  EXPECT_NEAR(found.covariance[3], rest + slope * slope * variance, 1e-6);
}

TEST(GaussianMixture, FindsPlantedPrincipalComponents) {
  const Planted planted;
  for (const double lost : {0.0, 0.15}) {
    const WeightedRows rows = planted.rows(2000, lost);
    const GaussianMixture found =
        fit_mixture(rows, initial_mixture(rows, 2), {.factors = 1}).mixture;
    for (std::size_t k = 0; k < 2; ++k) {
      const auto& one = *std::ranges::min_element(found.components, {}, [&](const auto& c) {
        return std::abs(c.mean[0] - planted.means[k][0]);
      });
      EXPECT_NEAR(one.share, k == 0 ? 0.3 : 0.7, 0.05);
      const std::vector<double> w = loadings(one, 1);
      double along = 0;
      for (std::size_t j = 0; j < 5; ++j) {
        EXPECT_NEAR(one.mean[j], planted.means[k][j], 0.3);
        along += w[j] * planted.factors[k][j];
      }
      EXPECT_NEAR(std::abs(along), 5, 0.4);
    }
  }
}

/// Counting a row twice is having it twice.
TEST(GaussianMixture, WeightsCountRows) {
  WeightedRows rows = Planted().rows(100, 0.1), twice = rows;
  rows.weights.assign(100, 1);
  for (std::size_t i = 0; i < 40; ++i) {
    rows.weights[i] = 2;
    for (std::size_t j = 0; j < 5; ++j) twice.values.push_back(rows.values[i * 5 + j]);
  }
  const GaussianMixture start = initial_mixture(rows, 2);
  const auto a = fit_mixture(rows, start, {.rounds = 20}),
             b = fit_mixture(twice, start, {.rounds = 20});
  EXPECT_NEAR(a.log_likelihood.back(), b.log_likelihood.back(), 1e-10);
  for (std::size_t j = 0; j < 5; ++j)
    EXPECT_NEAR(a.mixture.components[0].mean[j], b.mixture.components[0].mean[j], 1e-9);
}

TEST(GaussianMixture, BackgroundTakesWhatLiesAnywhere) {
  const RandomFunction random = random_of(3);
  WeightedRows rows{1, {}};
  for (std::size_t i = 0; i < 2000; ++i)
    rows.values.push_back(i % 4 == 0 ? 100 * random.uniform(2 * i)
                                     : 30 + 0.5 * random.normal(2 * i));
  GaussianMixture start{{{0.5, {40}, {100}}}, 0.5};
  const GaussianMixture found = fit_mixture(rows, start, {.uniform_density = 0.01}).mixture;
  EXPECT_NEAR(found.background, 0.25, 0.02);
  EXPECT_NEAR(found.components[0].mean[0], 30, 0.05);
  EXPECT_NEAR(found.components[0].covariance[0], 0.25, 0.03);
}

TEST(GaussianMixture, BitsDoNotDependOnThreads) {
  const WeightedRows rows = Planted().rows(400, 0.1);
  std::vector<std::vector<double>> results;
  for (const std::size_t threads : {1, 2, 3}) {
    set_thread_count(threads);
    results.push_back(fit_mixture(rows, initial_mixture(rows, 3), {.rounds = 10}).log_likelihood);
  }
  set_thread_count(0);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(GaussianMixture, SaysWhatItCannotDo) {
  const WeightedRows rows{1, {0, 0, 0, 5, 6, 7}};
  EXPECT_THROW(fit_mixture(rows, initial_mixture(rows, 2)), NotPositiveDefinite);
  EXPECT_NO_THROW(fit_mixture(rows, initial_mixture(rows, 2), {.least_variance = 0.1}));
  EXPECT_THROW(fit_mixture({2, {1, 2, 3}}, {}), std::invalid_argument);
  EXPECT_THROW(initial_mixture(rows, 7), std::invalid_argument);
}

}  // namespace gaussian_mixture_test
}  // namespace bochner
