#include <gtest/gtest.h>

#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/probability/variational_mixture.hpp>
#include <cmath>
#include <numbers>

namespace bochner {
namespace variational_mixture_test {

constexpr std::size_t n = 40, K = 3, d = 2;

/// As in variational_mixture.py.
std::vector<double> golden_rows() {
  const double centres[K][d] = {{0, 0}, {3, 0}, {0, 3}};
  std::vector<double> rows;
  for (std::size_t i = 0; i < n; ++i) {
    rows.push_back(centres[i % 3][0] + (double(7 * i % 20) - 9.5) / 16);
    rows.push_back(centres[i % 3][1] + (double((9 * i + 3) % 20) - 9.5) / 16);
  }
  return rows;
}
std::vector<double> golden_start() {
  std::vector<double> start;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < K; ++k) start.push_back((i + i / 16) % 3 == k ? 0.5 : 0.25);
  return start;
}

struct Golden {
  const char* weights;
  double concentration;
  std::vector<double> lower_bound, strengths, degrees, means, covariances;
};
const Golden golden[] = {
#include "golden/variational_mixture.inc"
};

WeightPrior prior_of(const Golden& row) {
  return row.weights == std::string("dirichlet") ? WeightPrior::dirichlet
                                                 : WeightPrior::stick_breaking;
}

/// What scikit-learn's bound lacks: constants of the data and of the prior, ln of the normalising
/// integrals of the Wishart distribution without pi, of the normal one and of the weights.
double constants(const MixturePrior& prior, WeightPrior weights) {
  const NormalWishart& base = prior.base;
  std::vector<double> factor = base.squares;
  cholesky(d, factor.data());
  double wishart =
      base.degrees / 2 *
          (double(d) * std::numbers::ln2 - log_determinant_of_factor(d, factor.data())) -
      double(d) / 2 * std::log(base.strength);
  for (std::size_t i = 0; i < d; ++i) wishart += std::lgamma((base.degrees - double(i)) / 2);
  const double a = prior.concentration;
  const double of_weights = weights == WeightPrior::dirichlet
                                ? K * std::lgamma(a) - std::lgamma(K * a)
                                : K * (std::lgamma(a) - std::lgamma(a + 1));
  return -double(n * d) / 2 * std::log(2 * std::numbers::pi) - K * wishart - of_weights;
}

TEST(VariationalMixture, IsScikitLearns) {
  for (const Golden& row : golden) {
    SCOPED_TRACE(row.weights);
    const MixturePrior prior =
        default_mixture_prior(golden_rows(), d, row.concentration, prior_of(row));
    const VariationalMixture q =
        fit_variational_mixture(prior, golden_rows(), golden_start(),
                                {.rounds = row.lower_bound.size() - 1, .tolerance = -1});
    ASSERT_EQ(q.lower_bound.size(), row.lower_bound.size());
    for (std::size_t i = 0; i < row.lower_bound.size(); ++i)
      EXPECT_NEAR(q.lower_bound[i], row.lower_bound[i] + constants(prior, prior_of(row)), 1e-9);
    for (std::size_t k = 0; k < K; ++k) {
      const NormalWishart& one = q.components[k];
      EXPECT_NEAR(one.strength, row.strengths[k], 1e-9);
      EXPECT_NEAR(one.degrees, row.degrees[k], 1e-9);
      for (std::size_t j = 0; j < d; ++j) EXPECT_NEAR(one.mean[j], row.means[k * d + j], 1e-9);
      for (std::size_t j = 0; j < d * d; ++j)
        EXPECT_NEAR(one.squares[j] / one.degrees, row.covariances[k * d * d + j], 1e-9);
    }
  }
}

MixturePrior some_prior(WeightPrior weights) {
  return {weights, 0.7, {{0.5, 0.5}, 0.2, 4, {1, 0.2, 0.2, 0.5}}};
}

TEST(VariationalMixture, BoundRisesWithEachHalfOfARound) {
  for (const WeightPrior weights : {WeightPrior::dirichlet, WeightPrior::stick_breaking}) {
    const MixturePrior prior = some_prior(weights);
    const std::vector<double> rows = golden_rows();
    VariationalMixture q = fit_variational_mixture(prior, rows, golden_start(), {.rounds = 0});
    for (int round = 0; round < 8; ++round) {
      const double before = evidence_lower_bound(prior, rows, q);
      EXPECT_NEAR(before, q.lower_bound.back(), 1e-10);
      VariationalMixture next =
          fit_variational_mixture(prior, rows, q.responsibilities, {.rounds = 1});
      VariationalMixture between = q;
      between.responsibilities = next.responsibilities;
      const double half = evidence_lower_bound(prior, rows, between);
      EXPECT_GE(half, before - 1e-10);
      EXPECT_GE(next.lower_bound.back(), half - 1e-10);
      q = std::move(next);
    }
    EXPECT_GT(
        q.lower_bound.back(),
        evidence_lower_bound(prior, rows,
                             fit_variational_mixture(prior, rows, golden_start(), {.rounds = 0})) +
            1);
  }
}

/// ln p(rows) by the sum over all labels; the weights integrate to a Dirichlet-multinomial.
double log_evidence(const MixturePrior& prior, const std::vector<double>& rows, std::size_t parts) {
  const std::size_t count = rows.size() / d;
  std::size_t cases = 1;
  for (std::size_t i = 0; i < count; ++i) cases *= parts;
  double sum = 0;
  for (std::size_t one = 0; one < cases; ++one) {
    std::vector<NormalWishart> states(parts, prior.base);
    std::vector<double> sizes(parts);
    for (std::size_t i = 0, rest = one; i < count; ++i, rest /= parts) {
      states[rest % parts].add(rows.data() + i * d);
      sizes[rest % parts] += 1;
    }
    const double a = prior.concentration, all = double(parts) * a;
    double log = std::lgamma(all) - std::lgamma(all + double(count));
    for (std::size_t k = 0; k < parts; ++k)
      log += std::lgamma(a + sizes[k]) - std::lgamma(a) + states[k].log_integral() -
             prior.base.log_integral();
    sum += std::exp(log);
  }
  return std::log(sum) - double(rows.size()) / 2 * std::log(std::numbers::pi);
}

/// With one component the posterior is exact; with two the bound is below the evidence.
TEST(VariationalMixture, BoundIsBelowTheEvidence) {
  const MixturePrior prior = some_prior(WeightPrior::dirichlet);
  const std::vector<double> few{0, 0, 0.25, 0.5, 3, 0, 2.5, 0.25, 3.25, -0.5};
  EXPECT_NEAR(fit_variational_mixture(prior, few, std::vector<double>(5, 1)).lower_bound.back(),
              log_evidence(prior, few, 1), 1e-10);
  const VariationalMixture two =
      fit_variational_mixture(prior, few, hard_responsibilities({0, 0, 1, 1, 1}, 2));
  const double gap = log_evidence(prior, few, 2) - two.lower_bound.back();
  EXPECT_GT(gap, 0);
  EXPECT_LT(gap, 3);
}

/// The predictive density of one component is the exact one; responsibilities sum to 1.
TEST(VariationalMixture, PredictsAMixtureOfStudents) {
  const MixturePrior prior = some_prior(WeightPrior::stick_breaking);
  const VariationalMixture q = fit_variational_mixture(prior, golden_rows(), golden_start());
  const StudentMixture next = q.predictive();
  const LabelPosterior labels = label_posterior(next, {0, 0, 3, 0.5});
  double density = 0, sum = 0;
  for (std::size_t k = 0; k < K; ++k) {
    density += next.shares[k] * std::exp(next.components[k].log_density({3, 0.5}));
    sum += labels.responsibilities[K + k];
  }
  EXPECT_NEAR(labels.log_density[1], std::log(density), 1e-12);
  EXPECT_NEAR(sum, 1, 1e-12);
  double shares = 0;
  for (const double share : q.shares()) shares += share;
  EXPECT_NEAR(shares, 1, 1e-12);
}

TEST(VariationalMixture, ChecksItsArguments) {
  EXPECT_THROW(fit_variational_mixture(some_prior({}), golden_rows(), {1, 1}),
               std::invalid_argument);
  MixturePrior wrong = some_prior({});
  wrong.base.degrees = 1;
  EXPECT_THROW(fit_variational_mixture(wrong, golden_rows(), golden_start()),
               std::invalid_argument);
  EXPECT_THROW(hard_responsibilities({0, 2}, 2), std::invalid_argument);
  EXPECT_THROW(default_mixture_prior({1, 2}, 2, 1), std::invalid_argument);
}

TEST(VariationalMixture, BitsDoNotDependOnThreads) {
  std::vector<double> rows, start;
  for (std::size_t i = 0; i < 2000; ++i) {
    rows.push_back(RandomFunction{1, Purpose::test, 1}.normal(i));
    rows.push_back(RandomFunction{1, Purpose::test, 2}.normal(i));
  }
  for (std::size_t i = 0; i < 6000; ++i) start.push_back((i + i / 3) % 3 == 0 ? 0.5 : 0.25);
  std::vector<std::vector<double>> results;
  for (const std::size_t threads : {1, 3}) {
    set_thread_count(threads);
    results.push_back(
        fit_variational_mixture(some_prior({}), rows, start, {.rounds = 5}).lower_bound);
  }
  set_thread_count(0);
  EXPECT_EQ(results[0], results[1]);
}

}  // namespace variational_mixture_test
}  // namespace bochner
