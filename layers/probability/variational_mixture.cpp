#include <algorithm>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/special_functions.hpp>
#include <bochner/base/shape.hpp>
#include <bochner/layers/probability/variational_mixture.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using special::digamma;

constexpr std::size_t rows_a_task = 256;

/// E ln N(x; mean, precision^-1) of a row under the posterior of a component.
class ExpectedLogNormal {
 public:
  explicit ExpectedLogNormal(const NormalWishart& q)
      : mean_(q.mean), factor_(q.squares), degrees_(q.degrees) {
    const double d = double(mean_.size());
    cholesky(mean_.size(), factor_.data());
    at_mean_ = (q.precision().expected_log_determinant() - d * log_two_pi - d / q.strength) / 2;
  }

  double operator()(const double* x) const {
    return at_mean_ - degrees_ * squared_mahalanobis(factor_, mean_, x) / 2;
  }

 private:
  std::vector<double> mean_, factor_;
  double degrees_, at_mean_ = 0;
};

/// E ln weight of each component. Bishop, (10.66); Blei, Jordan, section 3.2.
std::vector<double> expected_log_shares(const VariationalMixture& q) {
  std::vector<double> logs;
  for (const double a : q.dirichlet.a) logs.push_back(digamma(a) - digamma(q.dirichlet.total()));
  double rest = 0;
  for (const auto& [a, b] : q.sticks) {
    const double all = digamma(a + b);
    logs.push_back(rest + digamma(a) - all);
    rest += digamma(b) - all;
  }
  return logs;
}

/// E ln p(row, label k) of all rows and components. -> (n, K)
std::vector<double> expected_log_joint(const VariationalMixture& q,
                                       const std::vector<double>& rows) {
  const std::size_t K = q.components.size(), d = q.components[0].mean.size(), n = rows.size() / d;
  const std::vector<double> log_shares = expected_log_shares(q);
  const std::vector<ExpectedLogNormal> normals(q.components.begin(), q.components.end());
  std::vector<double> logs(n * K);
  parallel_each(n, rows_a_task, [&](std::size_t i) {
    for (std::size_t k = 0; k < K; ++k)
      logs[i * K + k] = log_shares[k] + normals[k](rows.data() + i * d);
  });
  return logs;
}

/// Replaces logs (n, K) by shares of each row in proportion to their exponentials. Returns the
/// logarithms of the sums (n).
std::vector<double> normalise_rows(std::vector<double>& logs, std::size_t K) {
  std::vector<double> sums(logs.size() / K);
  parallel_each(sums.size(), rows_a_task, [&](std::size_t i) {
    double* row = logs.data() + i * K;
    const double most = *std::max_element(row, row + K);
    double sum = 0;
    for (std::size_t k = 0; k < K; ++k) sum += row[k] = std::exp(row[k] - most);
    for (std::size_t k = 0; k < K; ++k) row[k] /= sum;
    sums[i] = most + std::log(sum);
  });
  return sums;
}

/// The posterior of a component given its share of each row.
NormalWishart updated(const NormalWishart& base, const std::vector<double>& rows,
                      const std::vector<double>& responsibilities, std::size_t k, std::size_t K) {
  const std::size_t d = base.mean.size(), n = rows.size() / d;
  double count = 0;
  std::vector<double> centre(d), scatter(d * d), away(d);
  for (std::size_t i = 0; i < n; ++i) {
    count += responsibilities[i * K + k];
    for (std::size_t j = 0; j < d; ++j) centre[j] += responsibilities[i * K + k] * rows[i * d + j];
  }
  if (!(count > 0)) return base;
  for (double& x : centre) x /= count;
  for (std::size_t i = 0; i < n; ++i) {
    const double share = responsibilities[i * K + k];
    if (share == 0) continue;
    for (std::size_t j = 0; j < d; ++j) away[j] = rows[i * d + j] - centre[j];
    for (std::size_t a = 0; a < d; ++a)
      for (std::size_t b = 0; b < d; ++b) scatter[a * d + b] += share * away[a] * away[b];
  }
  return base.posterior(count, centre, scatter);
}

/// Updates weights and components given the responsibilities.
void update_parameters(const MixturePrior& prior, const std::vector<double>& rows,
                       VariationalMixture& q) {
  const std::size_t K = q.components.size();
  std::vector<double> counts(K);
  for (std::size_t i = 0; i < q.responsibilities.size(); ++i)
    counts[i % K] += q.responsibilities[i];
  q.dirichlet.a.clear(), q.sticks.clear();
  double later = std::accumulate(counts.begin(), counts.end(), 0.0);
  for (std::size_t k = 0; k < K; ++k) {
    later = k + 1 < K ? later - counts[k] : 0;
    if (prior.weights == WeightPrior::dirichlet)
      q.dirichlet.a.push_back(prior.concentration + counts[k]);
    else
      q.sticks.push_back({1 + counts[k], prior.concentration + std::max(later, 0.0)});
  }
  parallel_each(K, 1, [&](std::size_t k) {
    q.components[k] = updated(prior.base, rows, q.responsibilities, k, K);
  });
}

double divergence_from(const MixturePrior& prior, const VariationalMixture& q) {
  double sum = 0;
  if (!q.dirichlet.a.empty())
    sum += kl_divergence(q.dirichlet, DirichletDistribution{std::vector<double>(
                                          q.dirichlet.a.size(), prior.concentration)});
  for (const BetaDistribution& stick : q.sticks)
    sum += kl_divergence(stick, BetaDistribution{1, prior.concentration});
  for (const NormalWishart& one : q.components) sum += kl_divergence(one, prior.base);
  return sum;
}

double lower_bound_of(const MixturePrior& prior, const VariationalMixture& q,
                      const std::vector<double>& log_joint) {
  double sum = 0;
  for (std::size_t i = 0; i < log_joint.size(); ++i)
    if (const double share = q.responsibilities[i]; share > 0)
      sum += share * (log_joint[i] - std::log(share));
  return sum - divergence_from(prior, q);
}

}  // namespace

MixturePrior default_mixture_prior(const std::vector<double>& rows, std::size_t d,
                                   double concentration, WeightPrior weights) {
  require(d >= 1 && rows.size() % d == 0 && rows.size() / d > d, "variational_mixture",
          "needs more rows than dimensions: ", rows.size(), " values in rows of ", d);
  const std::size_t n = rows.size() / d;
  const NormalWishart all = updated({std::vector<double>(d), 0, 0, std::vector<double>(d * d)},
                                    rows, std::vector<double>(n, 1), 0, 1);
  MixturePrior prior{weights, concentration, {all.mean, 1, double(d), all.squares}};
  for (double& x : prior.base.squares) x /= double(n - 1);
  return prior;
}

std::vector<double> VariationalMixture::shares() const {
  std::vector<double> expected = dirichlet.a;
  double rest = 1;
  for (const BetaDistribution& stick : sticks) {
    expected.push_back(rest * stick.mean());
    rest *= 1 - stick.mean();
  }
  const double all = std::accumulate(expected.begin(), expected.end(), 0.0);
  for (double& share : expected) share /= all;
  return expected;
}

StudentMixture VariationalMixture::predictive() const {
  StudentMixture next{shares(), {}};
  for (const NormalWishart& one : components) next.components.push_back(one.predictive());
  return next;
}

LabelPosterior label_posterior(const StudentMixture& mixture, const std::vector<double>& rows) {
  const std::size_t K = mixture.components.size(), d = mixture.components.at(0).mean.size();
  require(mixture.shares.size() == K && rows.size() % d == 0, "label_posterior",
          mixture.shares.size(), " shares of ", K, " components; ", rows.size(),
          " values in rows of ", d);
  const std::vector<StudentDensity> densities(mixture.components.begin(), mixture.components.end());
  LabelPosterior posterior{std::vector<double>(rows.size() / d * K), {}};
  parallel_each(rows.size() / d, rows_a_task, [&](std::size_t i) {
    for (std::size_t k = 0; k < K; ++k)
      posterior.responsibilities[i * K + k] =
          std::log(mixture.shares[k]) + densities[k](rows.data() + i * d);
  });
  posterior.log_density = normalise_rows(posterior.responsibilities, K);
  return posterior;
}

VariationalMixture fit_variational_mixture(const MixturePrior& prior,
                                           const std::vector<double>& rows,
                                           std::vector<double> responsibilities,
                                           const AscentOptions& how) {
  const std::size_t d = prior.base.mean.size(), n = d == 0 ? 0 : rows.size() / d;
  require(n > 0 && n * d == rows.size() && !responsibilities.empty() &&
              responsibilities.size() % n == 0 && prior.base.squares.size() == d * d,
          "variational_mixture", rows.size(), " values in rows of ", d, " and ",
          responsibilities.size(), " responsibilities");
  require(prior.concentration > 0 && prior.base.strength > 0 && prior.base.degrees > double(d) - 1,
          "variational_mixture", "needs a positive concentration and strength and degrees above ",
          double(d) - 1, ": ", prior.concentration, ", ", prior.base.strength, ", ",
          prior.base.degrees);
  VariationalMixture q{std::move(responsibilities)};
  q.components.resize(q.responsibilities.size() / n);
  for (std::size_t round = 0;; ++round) {
    update_parameters(prior, rows, q);
    std::vector<double> log_joint = expected_log_joint(q, rows);
    std::vector<double>& path = q.lower_bound;
    path.push_back(lower_bound_of(prior, q, log_joint));
    if (round == how.rounds ||
        (round > 0 && path[round] - path[round - 1] < how.tolerance * double(n)))
      return q;
    normalise_rows(log_joint, q.components.size());
    q.responsibilities = std::move(log_joint);
  }
}

double evidence_lower_bound(const MixturePrior& prior, const std::vector<double>& rows,
                            const VariationalMixture& q) {
  return lower_bound_of(prior, q, expected_log_joint(q, rows));
}

std::vector<double> hard_responsibilities(const std::vector<std::size_t>& labels, std::size_t K) {
  std::vector<double> responsibilities(labels.size() * K);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    require(labels[i] < K, "hard_responsibilities", "label ", labels[i], " of ", K, " components");
    responsibilities[i * K + labels[i]] = 1;
  }
  return responsibilities;
}

}  // namespace bochner::inline BOCHNER_PRECISION
