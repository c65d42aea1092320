#include <algorithm>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/layers/spectral/base_draws.hpp>
#include <bochner/train/laboratory/cluster_experiment.hpp>
#include <bochner/train/laboratory/kernel_sample.hpp>
#include <bochner/train/laboratory/statistics.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t dim = 50, clusters = 2;
constexpr double query_norm = 0.1, key_norm = 1;

struct Published {
  ClusterSetting setting;
  ErrorRange ranges[3][2];  // hybrid, positive, trigonometric at m = 20 and 200
};

/// What the authors' notebook stored.
constexpr Published published[] = {{{1, 12},
                                    {{{.0016, .0183}, {.0002, .0010}},
                                     {{.0071, .1455}, {.0013, .0205}},
                                     {{.0039, .0808}, {.0004, .0087}}}},
                                   {{1, 25},
                                    {{{.0032, .0265}, {.0003, .0018}},
                                     {{.0095, .2071}, {.0018, .0236}},
                                     {{.0036, .0989}, {.0004, .0134}}}},
                                   {{10, 12},
                                    {{{.0083, .0300}, {.0011, .0031}},
                                     {{.0362, .1218}, {.0037, .0150}},
                                     {{.0174, .0490}, {.0018, .0050}}}},
                                   {{10, 25},
                                    {{{.0097, .0294}, {.0012, .0031}},
                                     {{.0332, .1553}, {.0046, .0166}},
                                     {{.0179, .0485}, {.0015, .0067}}}}};
constexpr const char* estimators[] = {"hybrid", "positive", "trigonometric"};
constexpr std::size_t feature_counts[] = {20, 200};

using Centre = std::vector<double>;

RandomFunction random_of(const char* what) { return {1, Purpose::sampling, stream_of(what)}; }

Centre uniform_centre(const RandomFunction& random, double low, double high) {
  Centre centre(dim);
  for (std::size_t i = 0; i < dim; ++i) centre[i] = low + (high - low) * random.uniform(i);
  return centre;
}

/// centre^T O of a random rotation O.
Centre rotated(const Centre& centre, std::uint64_t which) {
  Tensor gaussian = uninitialized({dim, dim});
  const RandomFunction random = random_of("rotation");
  for (std::size_t i = 0; i < gaussian.size(); ++i)
    gaussian.data()[i] = real(random.normal(which * gaussian.size() + i));
  const Tensor rotation = orthogonalize(gaussian);
  Centre y(dim);
  for (std::size_t i = 0; i < dim; ++i)
    for (std::size_t j = 0; j < dim; ++j) y[j] += centre[i] * double(rotation.data()[i * dim + j]);
  return y;
}

/// Centres of the clusters of queries and of keys: queries in one orthant, keys opposite to them in
/// all but the first `mixed` coordinates.
struct Centres {
  Centre queries[2], keys[2];
};
Centres centres_of(const ClusterSetting& setting) {
  const Centre query = uniform_centre(random_of("query centre"), 3, 4);
  Centre key = uniform_centre(random_of("key centre"), 2, 5);
  for (std::size_t i = 0; i < dim; ++i)
    if (random_of("key signs").integer(i, 2) == 0) key[i] = -key[i];
  Centres centres;
  for (std::size_t c = 0; c < 2; ++c) {
    centres.queries[c] = rotated(query, c);
    centres.keys[c] = rotated(key, c);
    for (std::size_t i = 0; i < dim; ++i) {
      double& q = centres.queries[c][i];
      double& k = centres.keys[c][i];
      q = std::copysign(q, centres.queries[0][i]);
      if (i >= setting.mixed) k = -std::copysign(k, q);
    }
  }
  return centres;
}

/// What is compared: rows (n, d) in two clusters.
struct Side {
  Tensor rows;
  Clusters clusters;
};

/// `points` normal points around each of two centres, scaled to the norm.
Side side_around(const Centre* centres, std::size_t points, double variance, double norm,
                 const char* what) {
  Tensor rows = uninitialized({clusters * points, dim});
  const RandomFunction random = random_of(what);
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows.data()[i] =
        real(centres[i / (points * dim)][i % dim] + std::sqrt(variance) * random.normal(i));
  for (std::size_t i = 0; i < clusters * points; ++i) {
    real* row = rows.data() + i * dim;
    const real factor = real(norm) / std::sqrt(dot_row(row, row, dim));
    for (std::size_t j = 0; j < dim; ++j) row[j] *= factor;
  }
  Clusters found = standardized_clusters(rows, clusters);
  return {std::move(rows), std::move(found)};
}

struct Points {
  Side q, k;
  Tensor exact;  // exp(q . k)
};

Points points_of(const ClusterSetting& setting, std::size_t count) {
  const Centres centres = centres_of(setting);
  Points points{side_around(centres.queries, count, setting.variance, query_norm, "queries"),
                side_around(centres.keys, count, setting.variance, key_norm, "keys"),
                {}};
  points.exact = products({points.q.rows}, {points.k.rows});
  for (real& x : points.exact) x = std::exp(x);
  return points;
}

enum class Wave { exponential, cosine };

/// exp(w . A x - |A x|^2 / 2) / sqrt(m), or exp(|x|^2 / 2) [cos, sin] / sqrt(m); A = diag(scale).
FeatureMatrix features(const Tensor& rows, const Tensor& w, const std::vector<double>& scale,
                       Wave wave) {
  Tensor x = rows;
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] *= real(scale[i % dim]);
  const Tensor phases = products({x}, {w});
  const std::size_t n = rows.shape()[0], m = w.shape()[0], F = wave == Wave::cosine ? 2 * m : m;
  Tensor y = uninitialized({n, F});
  parallel_for(n, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const real* row = x.data() + i * dim;
      real* out = y.data() + i * F;
      const real half = dot_row(row, row, dim) / 2, factor = 1 / std::sqrt(real(m));
      for (std::size_t f = 0; f < m; ++f) {
        const real phase = phases.data()[i * m + f];
        if (wave == Wave::exponential) {
          out[f] = factor * std::exp(phase - half);
        } else {
          out[f] = factor * std::exp(half) * std::cos(phase);
          out[m + f] = factor * std::exp(half) * std::sin(phase);
        }
      }
    }
  });
  return {std::move(y)};
}

/// Squared errors of the pairs (i, j) that count, over the number of all pairs.
template <class Counts>
double squared_error(const Points& points, const FeatureMatrix& q, const FeatureMatrix& k,
                     const Counts& counts) {
  const Tensor estimate = products(q, k);
  const std::size_t n = estimate.shape()[0], s = estimate.shape()[1];
  const auto of_rows = [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t j = 0; j < s; ++j)
        if (counts(i, j))
          sum += std::pow(double(estimate.data()[i * s + j] - points.exact.data()[i * s + j]), 2);
    return sum;
  };
  return parallel_sum<double>(n, 64, of_rows) / double(estimate.size());
}

/// Every pair of clusters has its own A = diag(sqrt|k_l / q_l|) of the centres, which makes A q +
/// A^-1 k small where signs are opposite.
double hybrid_error(const Points& points, const Tensor& w) {
  const auto& [q_rows, q_clusters] = points.q;
  const auto& [k_rows, k_clusters] = points.k;
  double sum = 0;
  for (std::size_t a = 0; a < clusters; ++a)
    for (std::size_t b = 0; b < clusters; ++b) {
      std::vector<double> scale(dim), inverse(dim);
      for (std::size_t l = 0; l < dim; ++l) {
        const double q = std::fabs(real(q_clusters.centres[a * dim + l]));
        const double k = std::fabs(real(k_clusters.centres[b * dim + l]));
        scale[l] = std::clamp(std::sqrt(k / std::max(q, 1e-12)), 1e-3, 1e3);
        inverse[l] = 1 / scale[l];
      }
      sum += squared_error(
          points, features(q_rows, w, scale, Wave::exponential),
          features(k_rows, w, inverse, Wave::exponential), [&](std::size_t i, std::size_t j) {
            return points.q.clusters.labels[i] == a && points.k.clusters.labels[j] == b;
          });
    }
  return sum;
}

double estimator_error(std::size_t estimator, const Points& points, const Tensor& w) {
  if (estimator == 0) return hybrid_error(points, w);
  const std::vector<double> one(dim, 1.0);
  const Wave wave = estimator == 1 ? Wave::exponential : Wave::cosine;
  return squared_error(points, features(points.q.rows, w, one, wave),
                       features(points.k.rows, w, one, wave),
                       [](std::size_t, std::size_t) { return true; });
}

/// A rotation whose first columns span the centres of the clusters. (d, d)
Tensor centre_basis(const Points& points) {
  Tensor basis = uninitialized({dim, dim});
  const RandomFunction random = random_of("basis");
  for (std::size_t i = 0; i < basis.size(); ++i) {
    const std::size_t row = i / dim, column = i % dim;
    const Clusters& side = column < clusters ? points.k.clusters : points.q.clusters;
    basis.data()[i] = real(column < 2 * clusters ? side.centres[column % clusters * dim + row]
                                                 : random.normal(i));
  }
  return orthogonalize(basis);
}

/// (m, d)
Tensor frequencies(const std::string& draws, std::size_t m, std::uint64_t seed) {
  Tensor w =
      base_draws(draws, 1, m, dim, 0, {seed, Purpose::spectral, stream_of("cluster experiment")});
  w.reshape(Shape{m, dim});
  return w;
}

/// m frequencies (m, d), in pairs w, -w: evenly spread along the centres, where queries and keys
/// differ most, because the first coordinates of low-discrepancy points are the most even ones.
Tensor paired_frequencies(const std::string& draws, std::size_t m, bool in_pairs,
                          const Tensor& basis, std::uint64_t seed) {
  const Tensor half = products({frequencies(draws, in_pairs ? m / 2 : m, seed)}, {basis});
  Tensor w = uninitialized({m, dim});
  for (std::size_t i = 0; i < w.size(); ++i)
    w.data()[i] = i < half.size() ? half.data()[i] : -half.data()[i - half.size()];
  return w;
}

ClusterResult result_of(const Published& known, std::size_t estimator, std::size_t which,
                        const Points& points, const ClusterOptions& options) {
  const std::size_t m = feature_counts[which];
  const Tensor basis = centre_basis(points);
  const bool in_pairs = estimator != 2;  // cosines are even: for them -w says nothing new
  std::vector<double> repeated, ours;
  for (std::size_t seed = 1; seed <= options.seeds; ++seed) {
    repeated.push_back(estimator_error(estimator, points, frequencies("iid", m, seed)));
    ours.push_back(estimator_error(estimator, points,
                                   paired_frequencies(options.draws, m, in_pairs, basis, seed)));
  }
  const auto range_of = [](const std::vector<double>& errors) -> ErrorRange {
    const auto [low, high] = std::ranges::minmax(errors);
    return {low, high};
  };
  return {known.setting,      estimators[estimator], m,
          range_of(repeated), range_of(ours),        known.ranges[estimator][which]};
}

/// Every column to mean 0 and variance 1; a constant column becomes 0.
std::vector<double> standardized(const std::vector<double>& rows, std::size_t d) {
  const std::size_t n = rows.size() / d;
  std::vector<double> y(rows.size()), column(n);
  for (std::size_t j = 0; j < d; ++j) {
    for (std::size_t i = 0; i < n; ++i) column[i] = rows[i * d + j];
    const double mean = mean_of(column), deviation = deviation_of(column);
    for (std::size_t i = 0; i < n; ++i)
      if (deviation > 0) y[i * d + j] = (column[i] - mean) / deviation;
  }
  return y;
}

std::vector<double> means_of(const std::vector<double>& rows, std::size_t d,
                             const std::vector<std::size_t>& labels, std::size_t clusters) {
  std::vector<double> means(clusters * d), counts(clusters);
  for (const std::size_t label : labels) ++counts[label];
  for (std::size_t i = 0; i < rows.size(); ++i) means[labels[i / d] * d + i % d] += rows[i];
  for (std::size_t i = 0; i < means.size(); ++i) means[i] /= std::max(counts[i / d], 1.0);
  return means;
}

}  // namespace

Clusters standardized_clusters(const Tensor& rows, std::size_t count) {
  const std::size_t d = rows.shape()[1];
  require(count > 0 && count <= rows.shape()[0], "clusters", count, " clusters of ",
          rows.shape()[0], " rows");
  const std::vector<double> points(rows.begin(), rows.end());
  Clusters found = k_means(standardized(points, d), d, count);
  const std::size_t first = found.labels[0];
  for (std::size_t& label : found.labels)
    label = label == first ? count - 1 : label == count - 1 ? first : label;
  found.centres = means_of(points, d, found.labels, count);
  return found;
}

std::vector<ClusterResult> cluster_experiment(const ClusterOptions& options) {
  std::vector<ClusterResult> results;
  for (const Published& known : published) {
    const Points points = points_of(known.setting, options.points);
    for (std::size_t estimator = 0; estimator < 3; ++estimator)
      for (std::size_t which = 0; which < 2; ++which)
        results.push_back(result_of(known, estimator, which, points, options));
  }
  return results;
}

}  // namespace bochner::inline BOCHNER_PRECISION
