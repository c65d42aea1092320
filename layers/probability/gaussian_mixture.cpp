#include <algorithm>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/openblas.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/shape.hpp>
#include <bochner/layers/probability/gaussian_mixture.hpp>
#include <bochner/layers/probability/k_means.hpp>
#include <bochner/layers/spectral/closed_forms.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

/// Returns the allowed covariance of the highest likelihood for a scatter: eigenvectors stay,
/// eigenvalues after the first `factors` become their mean.
std::vector<double> allowed_covariance(std::vector<double> scatter, std::size_t d,
                                       const MixtureOptions& how) {
  if (!how.factors && how.least_variance == 0) return scatter;
  SymmetricEigen eigen = symmetric_eigen(scatter, d);
  if (how.factors && *how.factors < d) {
    const std::size_t rest = d - *how.factors;  // the first ones: values ascend
    const auto end = eigen.values.begin() + std::ptrdiff_t(rest);
    const double mean = std::accumulate(eigen.values.begin(), end, 0.0) / double(rest);
    std::fill(eigen.values.begin(), end, mean);
  }
  for (double& value : eigen.values) value = std::max(value, how.least_variance);
  std::ranges::fill(scatter, 0);
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      for (std::size_t v = 0; v < d; ++v)
        scatter[i * d + j] += eigen.values[v] * eigen.vectors[i * d + v] * eigen.vectors[j * d + v];
      scatter[j * d + i] = scatter[i * d + j];
    }
  return scatter;
}

/// Returns the log density of every row; the caller adds the log weight of the component.
std::vector<double> component_log_densities(const GaussianComponent& component,
                                            const WeightedRows& rows,
                                            const std::vector<SeenEntries>& patterns) {
  std::vector<double> logs(rows.size());
  for (const SeenEntries& pattern : patterns) {
    const SeenGaussian seen(component, pattern);
    for (const std::size_t row : pattern.rows)
      logs[row] = seen.log_density(rows.values.data() + row * rows.d);
  }
  return logs;
}

/// What is expected of the labels: shares (K + 1, n), the last those of the background, and ln p of
/// each row.
struct Expected {
  std::vector<double> shares, log_density;
};

Expected expect(const GaussianMixture& mixture, const WeightedRows& rows,
                const std::vector<SeenEntries>& patterns, double uniform_density) {
  const std::size_t n = rows.size(), K = mixture.components.size();
  Expected expected{std::vector<double>((K + 1) * n), std::vector<double>(n)};
  parallel_each(K, 1, [&](std::size_t k) {
    const std::vector<double> logs = component_log_densities(mixture.components[k], rows, patterns);
    const double log_share = std::log(mixture.components[k].share);
    for (std::size_t i = 0; i < n; ++i) expected.shares[k * n + i] = logs[i] + log_share;
  });
  const double uniform = mixture.background * uniform_density;
  parallel_each(n, 256, [&](std::size_t i) {
    double* share = expected.shares.data() + i;
    share[K * n] = uniform > 0 ? std::log(uniform) : never;
    double most = never, sum = 0;
    for (std::size_t k = 0; k <= K; ++k) most = std::max(most, share[k * n]);
    for (std::size_t k = 0; k <= K; ++k) sum += share[k * n] = std::exp(share[k * n] - most);
    for (std::size_t k = 0; k <= K; ++k) share[k * n] /= sum;
    expected.log_density[i] = most + std::log(sum);
  });
  return expected;
}

/// The component that is likeliest given its share of each row; unchanged where that is none.
GaussianComponent maximised(const GaussianComponent& before, const WeightedRows& rows,
                            const std::vector<SeenEntries>& patterns, const double* shares,
                            double all, const MixtureOptions& how) {
  const std::size_t d = rows.d;
  double count = 0;
  std::vector<double> sums(d), squares(d * d), y(d);
  for (const SeenEntries& pattern : patterns) {
    const SeenGaussian seen(before, pattern);
    double here = 0;
    for (const std::size_t row : pattern.rows) {
      const double weight = shares[row] * rows.weight(row);
      if (weight == 0) continue;
      here += weight;
      seen.deviation(rows.values.data() + row * d, y.data());
      for (std::size_t i = 0; i < d; ++i) {
        sums[i] += weight * y[i];
        for (std::size_t j = 0; j < d; ++j) squares[i * d + j] += weight * y[i] * y[j];
      }
    }
    seen.add_missing_covariance(here, squares.data());
    count += here;
  }
  GaussianComponent after = before;
  after.share = count / all;
  if (!(count > 0)) return after;
  for (std::size_t i = 0; i < d; ++i) after.mean[i] += sums[i] / count;
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = 0; j < d; ++j)
      squares[i * d + j] = squares[i * d + j] / count - sums[i] * sums[j] / (count * count);
  after.covariance = allowed_covariance(std::move(squares), d, how);
  return after;
}

GaussianMixture maximised(const GaussianMixture& before, const WeightedRows& rows,
                          const std::vector<SeenEntries>& patterns, const Expected& expected,
                          double all, const MixtureOptions& how) {
  const std::size_t n = rows.size(), K = before.components.size();
  GaussianMixture after = before;
  parallel_each(K, 1, [&](std::size_t k) {
    after.components[k] =
        maximised(before.components[k], rows, patterns, expected.shares.data() + k * n, all, how);
  });
  after.background = 0;
  for (std::size_t i = 0; i < n; ++i)
    after.background += expected.shares[K * n + i] * rows.weight(i) / all;
  return after;
}

double mean_log_density(const WeightedRows& rows, const std::vector<double>& logs, double all) {
  double sum = 0;
  for (std::size_t i = 0; i < logs.size(); ++i)
    if (rows.weight(i) > 0) sum += rows.weight(i) * logs[i];
  return sum / all;
}

double total_weight(const WeightedRows& rows) {
  double all = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) all += rows.weight(i);
  return all;
}

void require_shapes(const WeightedRows& rows, const GaussianMixture& mixture) {
  require(rows.d >= 1 && rows.size() * rows.d == rows.values.size() &&
              (rows.weights.empty() || rows.weights.size() == rows.size()),
          "mixture", "rows of ", rows.d, " numbers: ", rows.values.size(), " values, ",
          rows.weights.size(), " weights");
  for (const GaussianComponent& one : mixture.components)
    require(one.mean.size() == rows.d && one.covariance.size() == rows.d * rows.d, "mixture",
            "a component of ", one.mean.size(), " dimensions and rows of ", rows.d);
}

/// Copies a submatrix. (d, d) -> (rows, columns)
std::vector<double> part_of(const std::vector<double>& matrix, std::size_t d,
                            const std::vector<std::size_t>& rows,
                            const std::vector<std::size_t>& columns) {
  std::vector<double> part;
  for (const std::size_t i : rows)
    for (const std::size_t j : columns) part.push_back(matrix[i * d + j]);
  return part;
}

/// Returns components at the centres that find(points, d) clusters, with the variances of all rows.
template <class Find>
GaussianMixture start_at_centres(const WeightedRows& rows, std::size_t K, const Find& find) {
  require_shapes(rows, {});
  require(K >= 1 && rows.size() >= K, "mixture", "needs a row for each of ", K,
          " components: ", rows.size());
  const std::size_t n = rows.size(), d = rows.d;
  std::vector<double> mean(d), square(d), seen(d), filled = rows.values;
  for (std::size_t i = 0; i < n * d; ++i)
    if (!std::isnan(filled[i])) mean[i % d] += filled[i], seen[i % d] += 1;
  for (std::size_t j = 0; j < d; ++j) mean[j] /= std::max(seen[j], 1.0);
  for (std::size_t i = 0; i < n * d; ++i) {
    if (std::isnan(filled[i])) filled[i] = mean[i % d];
    square[i % d] += (filled[i] - mean[i % d]) * (filled[i] - mean[i % d]);
  }
  const Clusters clusters = find(filled, d);
  GaussianMixture start;
  for (std::size_t k = 0; k < K; ++k) {
    const auto centre = clusters.centres.begin() + std::ptrdiff_t(k * d);
    start.components.push_back(
        {1 / double(K), {centre, centre + std::ptrdiff_t(d)}, std::vector<double>(d * d)});
    for (std::size_t j = 0; j < d; ++j)
      start.components[k].covariance[j * d + j] =
          square[j] > 0 ? square[j] / std::max(seen[j], 1.0) : 1;
  }
  return start;
}

}  // namespace

FittedMixture fit_mixture(const WeightedRows& rows, GaussianMixture start,
                          const MixtureOptions& how) {
  require_shapes(rows, start);
  const double all = total_weight(rows);
  require(all > 0, "mixture", "needs a row that counts");
  const std::vector<SeenEntries> patterns = patterns_of(rows.values, rows.d);
  for (GaussianComponent& one : start.components)
    one.covariance = allowed_covariance(std::move(one.covariance), rows.d, how);
  FittedMixture learned{std::move(start), {}};
  for (std::size_t round = 0;; ++round) {
    const Expected expected = expect(learned.mixture, rows, patterns, how.uniform_density);
    std::vector<double>& path = learned.log_likelihood;
    path.push_back(mean_log_density(rows, expected.log_density, all));
    if (round == how.rounds || (round > 0 && path[round] - path[round - 1] < how.tolerance)) break;
    learned.mixture = maximised(learned.mixture, rows, patterns, expected, all, how);
  }
  return learned;
}

LabelPosterior label_posterior(const GaussianMixture& mixture, const WeightedRows& rows,
                               double uniform_density) {
  require_shapes(rows, mixture);
  const std::size_t n = rows.size(), K = mixture.components.size();
  Expected expected = expect(mixture, rows, patterns_of(rows.values, rows.d), uniform_density);
  LabelPosterior posterior{std::vector<double>(n * K), std::move(expected.log_density)};
  for (std::size_t k = 0; k < K; ++k)
    for (std::size_t i = 0; i < n; ++i)
      posterior.responsibilities[i * K + k] = expected.shares[k * n + i];
  return posterior;
}

GaussianMixture initial_mixture(const WeightedRows& rows, std::size_t K) {
  return start_at_centres(rows, K, [K](const std::vector<double>& points, std::size_t d) {
    return k_means(points, d, K);
  });
}

GaussianMixture initial_mixture(const WeightedRows& rows, std::size_t K,
                                const RandomFunction& random) {
  return start_at_centres(rows, K, [&](const std::vector<double>& points, std::size_t d) {
    return k_means(points, d, {.clusters = K}, random);
  });
}

std::vector<double> loadings(const GaussianComponent& component, std::size_t factors) {
  const std::size_t d = component.mean.size();
  require(factors < d, "loadings", factors, " factors of ", d, " dimensions");
  const SymmetricEigen eigen = symmetric_eigen(component.covariance, d);
  const double noise =
      std::accumulate(eigen.values.begin(), eigen.values.end() - std::ptrdiff_t(factors), 0.0) /
      double(d - factors);
  std::vector<double> w(d * factors);
  for (std::size_t f = 0; f < factors; ++f) {
    const double length = std::sqrt(std::max(0.0, eigen.values[d - 1 - f] - noise));
    for (std::size_t i = 0; i < d; ++i)
      w[i * factors + f] = length * eigen.vectors[i * d + d - 1 - f];
  }
  return w;
}

std::vector<SeenEntries> patterns_of(const std::vector<double>& values, std::size_t d) {
  std::map<std::vector<bool>, SeenEntries> patterns;
  std::vector<bool> missing(d);
  for (std::size_t row = 0; row < values.size() / d; ++row) {
    for (std::size_t j = 0; j < d; ++j) missing[j] = std::isnan(values[row * d + j]);
    patterns[missing].rows.push_back(row);
  }
  std::vector<SeenEntries> all;
  for (auto& [is_missing, pattern] : patterns) {
    for (std::size_t j = 0; j < d; ++j)
      (is_missing[j] ? pattern.missing : pattern.seen).push_back(j);
    all.push_back(std::move(pattern));
  }
  return all;
}

SeenGaussian::SeenGaussian(const GaussianComponent& component, const SeenEntries& entries)
    : component_(component), entries_(entries) {
  const std::size_t d = component.mean.size(), s = entries.seen.size(), m = entries.missing.size();
  factor_ = part_of(component.covariance, d, entries.seen, entries.seen);
  cholesky(s, factor_.data());
  log_scale_ = -log_determinant_of_factor(s, factor_.data()) / 2;
  std::vector<double> cross = part_of(component.covariance, d, entries.seen, entries.missing);
  missing_ = part_of(component.covariance, d, entries.missing, entries.missing);
  if (m == 0) return;
  solve_lower(s, factor_.data(), m, cross.data());
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < m; ++j)
      for (std::size_t k = 0; k < s; ++k)
        missing_[i * m + j] -= cross[k * m + i] * cross[k * m + j];
  solve_lower_transposed(s, factor_.data(), m, cross.data());
  gain_.resize(m * s);
  for (std::size_t i = 0; i < m * s; ++i) gain_[i] = cross[i % s * m + i / s];
}

double SeenGaussian::log_density(const double* row) const {
  const std::size_t s = entries_.seen.size();
  std::vector<double> white(s);
  for (std::size_t i = 0; i < s; ++i) {
    white[i] = row[entries_.seen[i]] - component_.mean[entries_.seen[i]];
    for (std::size_t j = 0; j < i; ++j) white[i] -= factor_[i * s + j] * white[j];
    white[i] /= factor_[i * s + i];
  }
  return log_scale_ + log_normal_density(s, squared_length(white.data(), s));
}

void SeenGaussian::deviation(const double* row, double* y) const {
  const std::size_t s = entries_.seen.size();
  for (const std::size_t j : entries_.seen) y[j] = row[j] - component_.mean[j];
  for (std::size_t i = 0; i < entries_.missing.size(); ++i) {
    double expected = 0;
    for (std::size_t j = 0; j < s; ++j) expected += gain_[i * s + j] * y[entries_.seen[j]];
    y[entries_.missing[i]] = expected;
  }
}

void SeenGaussian::add_missing_covariance(double weight, double* squares) const {
  const std::size_t d = component_.mean.size(), m = entries_.missing.size();
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < m; ++j)
      squares[entries_.missing[i] * d + entries_.missing[j]] += weight * missing_[i * m + j];
}

}  // namespace bochner::inline BOCHNER_PRECISION
