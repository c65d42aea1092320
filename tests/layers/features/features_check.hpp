#pragma once
/// Compares feature maps with closed forms; heads are independent repetitions of one estimate.

#include <bochner/layers/features/feature_map.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace features_check {

using namespace layer_check;

/// Returns the spec of `heads` maps of m iid draws from N(0, I).
inline FeatureSpec spec_of(const std::string& kind, std::size_t heads, std::size_t d,
                           std::size_t m) {
  FeatureSpec spec;
  spec.kind = kind, spec.heads = heads, spec.dim = d, spec.m = m;
  spec.density.draws = "iid";
  spec.density.heads = heads, spec.density.m = m, spec.density.dim = d;
  spec.density.log_scale = 0;
  return spec;
}

/// Moments of independent estimates of one number.
struct Moments {
  double mean = 0, variance = 0, fourth = 0, count = 0;
  explicit Moments(const std::vector<double>& values) : count(double(values.size())) {
    for (double value : values) mean += value / count;
    for (double value : values) {
      variance += std::pow(value - mean, 2) / (count - 1);
      fourth += std::pow(value - mean, 4) / count;
    }
  }
  double mean_error() const { return std::sqrt(variance / count); }
  double variance_error() const {
    return std::sqrt(std::max(0.0, fourth - variance * variance) / count);
  }
};

/// Repeats a vector for all heads. (d) -> (1, 1, H, d)
inline Tensor for_all_heads(const std::vector<double>& x, std::size_t heads) {
  Tensor y = uninitialized({1, 1, heads, x.size()});
  for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] = real(x[i % x.size()]);
  return y;
}

/// Returns phi(q) . phi(k) of each head.
inline std::vector<double> estimates_of(FeatureMap& map, std::size_t heads,
                                        const std::vector<double>& q,
                                        const std::vector<double>& k) {
  Tape tape({.recording = false});
  const Features query = map.queries(tape, for_all_heads(q, heads));
  const Features key = map.keys(tape, for_all_heads(k, heads));
  const std::size_t F = query.shape().back();
  const Tensor queries = query.values().value(), keys = key.values().value();
  std::vector<double> estimates(heads);
  for (std::size_t i = 0; i < heads * F; ++i) {
    const double a = queries.data()[i], b = keys.data()[i];
    estimates[i / F] += query.scale == FeatureScale::linear ? a * b : std::exp(a + b);
  }
  return estimates;
}

inline std::vector<double> vector_of(std::size_t d, double length, std::uint64_t stream) {
  const RandomFunction random{7, Purpose::test, stream};
  std::vector<double> x(d);
  double square = 0;
  for (std::size_t i = 0; i < d; ++i) x[i] = random.normal(i), square += x[i] * x[i];
  for (double& e : x) e *= length / std::sqrt(square);
  return x;
}

struct Pair {
  std::vector<double> q, k;
};

/// Returns five pairs; after scaling by d^(-1/4) the longest vectors have length `longest`.
inline std::vector<Pair> pairs(std::size_t d, double longest) {
  const double lengths[][2] = {{0.3, 0.5}, {0.9, 0.2}, {0.6, 0.6}, {1, 0.7}, {0.1, 1}};
  const double scale = longest * std::pow(double(d), 0.25);
  std::vector<Pair> all;
  for (std::size_t i = 0; i < 5; ++i) {
    all.push_back({vector_of(d, scale * lengths[i][0], 2 * i),
                   vector_of(d, scale * lengths[i][1], 2 * i + 1)});
  }
  return all;
}

inline std::vector<double> negative(std::vector<double> x) {
  for (double& e : x) e = -e;
  return x;
}

/// Compares mean and variance of a map's estimates at five pairs with its closed forms, to 5
/// standard errors.
inline void expect_closed_forms(const FeatureSpec& spec, double longest) {
  const double rounding = is_double ? 1e-12 : 1e-6;
  const auto map = make_feature_map(spec);
  for (const Pair& pair : pairs(spec.dim, longest)) {
    const Moments moments(estimates_of(*map, spec.heads, pair.q, pair.k));
    const double kernel = map->kernel(pair.q, pair.k).value();
    const double variance = map->variance(pair.q, pair.k).value();
    EXPECT_NEAR(moments.mean, kernel, 5 * moments.mean_error() + rounding * kernel)
        << spec.kind << ", d " << spec.dim << ", m " << spec.m;
    EXPECT_NEAR(moments.variance, variance,
                5 * moments.variance_error() + rounding * (variance + kernel * kernel))
        << spec.kind << ", d " << spec.dim << ", m " << spec.m;
  }
}

/// Expects every estimate to be `value`, to rounding.
inline void expect_exact(FeatureMap& map, std::size_t heads, const std::vector<double>& q,
                         const std::vector<double>& k, double value) {
  for (double estimate : estimates_of(map, heads, q, k))
    ASSERT_NEAR(estimate, value, (is_double ? 1e-13 : 1e-5) * std::max(1.0, value));
}

}  // namespace features_check
}  // namespace bochner::inline BOCHNER_PRECISION
