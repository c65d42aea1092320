#include <algorithm>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/spectral/base_draws.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>
#include <bochner/train/studies/cluster_experiment.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::size_t dim = 50, clusters = 2;
constexpr double query_norm = 0.1, key_norm = 1;

struct Published {
  ClusterSetting setting;
  ErrorRange ranges[3][2];  // of `maps` at m = 20 and 200
};

/// Results in the authors' notebook.
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
constexpr const char* maps[] = {"hybrid_cluster", "positive", "trigonometric"};
constexpr std::size_t feature_counts[] = {20, 200};

using Centre = std::vector<double>;

RandomFunction random_of(const char* what) { return {1, Purpose::sampling, stream_of(what)}; }

Centre uniform_centre(const RandomFunction& random, double low, double high) {
  Centre centre(dim);
  for (std::size_t i = 0; i < dim; ++i) centre[i] = low + (high - low) * random.uniform(i);
  return centre;
}

/// Returns centre^T O for a random rotation O.
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

/// Centres of the clusters of queries and keys: queries in one orthant, keys opposite to them in
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

/// Draws `points` normal points around each of two centres, scaled to the norm. -> (n, d)
Tensor rows_around(const Centre* centres, std::size_t points, double variance, double norm,
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
  return rows;
}

struct Points {
  Tensor q, k;   // (n, d)
  Tensor exact;  // exp(q . k)
  Tensor basis;  // (d, d), a rotation whose first columns span the centres of the clusters
};

Tensor centre_basis(const Centres& centres) {
  Tensor basis = uninitialized({dim, dim});
  const RandomFunction random = random_of("basis");
  for (std::size_t i = 0; i < basis.size(); ++i) {
    const std::size_t row = i / dim, column = i % dim;
    const Centre* side = column < clusters ? centres.keys : centres.queries;
    basis.data()[i] = real(column < 2 * clusters ? side[column % clusters][row] : random.normal(i));
  }
  return orthogonalize(basis);
}

Points points_of(const ClusterSetting& setting, std::size_t count) {
  const Centres centres = centres_of(setting);
  Points points{rows_around(centres.queries, count, setting.variance, query_norm, "queries"),
                rows_around(centres.keys, count, setting.variance, key_norm, "keys"),
                {},
                centre_basis(centres)};
  points.exact = products({points.q}, {points.k});
  for (real& x : points.exact) x = std::exp(x);
  return points;
}

Tensor frequencies(const std::string& draws, std::size_t m, std::uint64_t seed) {
  Tensor w =
      base_draws(draws, 1, m, dim, 0, {seed, Purpose::spectral, stream_of("cluster experiment")});
  w.reshape(Shape{m, dim});
  return w;
}

/// Draws m frequencies (m, d), in pairs w, -w: most even along the centres, where queries and keys
/// differ most, which get the first coordinates of low-discrepancy points.
Tensor turned_frequencies(const std::string& draws, std::size_t m, bool in_pairs,
                          const Tensor& basis, std::uint64_t seed) {
  const Tensor half = products({frequencies(draws, in_pairs ? m / 2 : m, seed)}, {basis});
  Tensor w = uninitialized({m, dim});
  for (std::size_t i = 0; i < w.size(); ++i)
    w.data()[i] = i < half.size() ? half.data()[i] : -half.data()[i - half.size()];
  return w;
}

/// Replaces the noise of N(0, I) by frequencies.
struct NoiseSetter : Visitor {
  explicit NoiseSetter(const Tensor& w) : frequencies(w) {}
  void on_parameter(const std::string&, Parameter&) override {}
  void on_buffer(const std::string& name, Tensor& buffer) override {
    if (name.ends_with("noise")) std::copy(frequencies.begin(), frequencies.end(), buffer.data());
  }
  const Tensor& frequencies;
};

/// Feature map of the library, calibrated to the points. It divides queries and keys by d^(1/4).
class Measured {
 public:
  Measured(const char* kind, std::size_t m, const Points& points) : exact_(points.exact) {
    const real scale = real(std::pow(double(dim), 0.25));
    const Shape one_head{points.q.shape()[0], 1, dim};
    q_ = points.q * scale, k_ = points.k * scale;
    Tensor q = q_, k = k_;
    q.reshape(one_head), k.reshape(one_head);
    FeatureSpec spec;
    spec.kind = kind, spec.dim = dim, spec.m = m;
    spec.density.log_scale = 0;
    map_ = make_feature_map(spec);
    initialize(*map_, 1);
    map_->calibrate(q, k);
  }

  /// Returns the mean squared error over all pairs with these frequencies (m, d).
  double error(const Tensor& w) {
    NoiseSetter noise(w);
    map_->visit(noise);
    const HeadFeatures features = head_features(*map_, as_tokens(q_), as_tokens(k_)).front();
    const double unit = std::exp(features.q.log_unit + features.k.log_unit);
    const Tensor estimate = products(features.q, features.k);
    const auto of_pairs = [&](std::size_t begin, std::size_t end) {
      double sum = 0;
      for (std::size_t i = begin; i < end; ++i)
        sum += std::pow(unit * double(estimate.data()[i]) - double(exact_.data()[i]), 2);
      return sum;
    };
    return parallel_sum<double>(exact_.size(), 1 << 14, of_pairs) / double(exact_.size());
  }

 private:
  const Tensor& exact_;
  Tensor q_, k_;
  std::unique_ptr<FeatureMap> map_;
};

ClusterResult result_of(const Published& known, std::size_t estimator, std::size_t which,
                        const Points& points, const ClusterOptions& options) {
  const std::size_t m = feature_counts[which];
  const bool in_pairs = estimator != 2;  // cosines are even: -w would repeat w
  Measured map(maps[estimator], m, points);
  std::vector<double> repeated, turned;
  for (std::size_t seed = 1; seed <= options.seeds; ++seed) {
    repeated.push_back(map.error(frequencies("iid", m, seed)));
    turned.push_back(map.error(turned_frequencies(options.draws, m, in_pairs, points.basis, seed)));
  }
  const auto range_of = [](const std::vector<double>& errors) -> ErrorRange {
    const auto [low, high] = std::ranges::minmax(errors);
    return {low, high};
  };
  return {known.setting,      maps[estimator],  m,
          range_of(repeated), range_of(turned), known.ranges[estimator][which]};
}

}  // namespace

ClusterCounts count_holding(const std::vector<ClusterResult>& results,
                            ErrorRange ClusterResult::*range) {
  ClusterCounts counts;
  for (const ClusterResult& result : results) {
    const bool upper = (result.*range).high <= result.published.high;
    const bool lower = (result.*range).low <= result.published.low;
    counts.upper += upper, counts.lower += lower, counts.both += upper && lower;
  }
  return counts;
}

std::vector<ClusterResult> cluster_experiment(const ClusterOptions& options) {
  std::vector<ClusterResult> results;
  for (const Published& known : published) {
    const Points points = points_of(known.setting, options.points);
    for (std::size_t estimator = 0; estimator < std::size(maps); ++estimator)
      for (std::size_t which = 0; which < 2; ++which)
        results.push_back(result_of(known, estimator, which, points, options));
  }
  return results;
}

}  // namespace bochner
