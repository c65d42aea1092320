#pragma once
/// What causal and bidirectional linear attention are made of: features of one chunk of tokens and
/// the state that sums over chunks.

#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/autodiff/compute/reduce.hpp>
#include <bochner/autodiff/ops/attention_gradients.hpp>
#include <bochner/autodiff/ops/sequence.hpp>
#include <cmath>
#include <limits>
#include <utility>

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_parts {

struct Sizes {
  std::size_t B, T, H, F, d, C;
  std::size_t chunks() const { return (T + C - 1) / C; }
  std::size_t rows(std::size_t chunk) const { return std::min(T, (chunk + 1) * C) - chunk * C; }
  std::size_t feature_stride() const { return H * F; }
  std::size_t value_stride() const { return H * d; }
  std::size_t feature_offset(std::size_t b, std::size_t h, std::size_t chunk) const {
    return (b * T + chunk * C) * H * F + h * F;
  }
  std::size_t value_offset(std::size_t b, std::size_t h, std::size_t chunk) const {
    return (b * T + chunk * C) * H * d + h * d;
  }
};

/// Cuts a task's scratch memory into pieces.
struct Arena {
  real* next;
  real* take(std::size_t count) { return std::exchange(next, next + count); }
};

/// 1 / x, or 1 / floor for x below a floor > 0. Without one, 0 where features have underflowed:
/// such a row gives a zero output and no gradient.
inline real safe_inverse(real x, real floor) {
  if (floor > 0) return 1 / (x < floor ? floor : x);
  constexpr real tiny = std::numeric_limits<real>::min() * 1024;
  return std::abs(x) < tiny ? real(0) : 1 / x;
}

/// Row i of y (rows, columns) is multiplied by factor_i.
inline void scale_rows(std::size_t rows, std::size_t columns, const real* factor, real* y,
                       std::size_t stride) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t e = 0; e < columns; ++e) y[i * stride + e] *= factor[i];
  }
}

/// The logarithm of no weight at all: exp(nothing - x) = 0, yet exp(nothing - nothing) = 1, not
/// NaN.
inline constexpr real nothing = std::numeric_limits<real>::lowest();

/// Row i becomes exp(x_i - max x_i) with log_scale_i = max x_i, or stays as it is with log_scale_i
/// = 0.
inline void load_features(const real* x, std::size_t stride, std::size_t rows, std::size_t F,
                          FeatureScale scale, real* features, real* log_scale) {
  for (std::size_t i = 0; i < rows; ++i) {
    const real* from = x + i * stride;
    real* to = features + i * F;
    if (scale == FeatureScale::linear) {
      log_scale[i] = 0;
      std::copy_n(from, F, to);
      continue;
    }
    const real top = max_row(from, F);
    log_scale[i] = top < nothing ? nothing : top;
    for (std::size_t f = 0; f < F; ++f) to[f] = math::exp(from[f] - log_scale[i]);
  }
}

/// The features of one chunk with every weight that the recurrences need. Exponents are relative to
/// the chunk's first token: key j counts exp(log_key_j), log_key_j = log_scale_j + rate j, and row
/// i is divided by exp(M_i), M_i the maximum over the past and the keys up to i, so that no weight
/// exceeds 1 and no row depends on a later key, not even in its rounding.
struct Chunk {
  std::size_t rows = 0;
  real *q, *k;          // (C, F)
  real *log_key, *top;  // (C), (C): log_key_j and M_i
  real *past, *carry;   // (C): weight of the old state in row i; of key j in the new state
  real* weight;         // (C, C): exp(log_key_j - M_i) for j <= i, else 0
  real* product;        // (C, C): weight * q k^T
  real* normalizer;     // (C): 1 / denominator
  real keep = 0;        // weight of the old state in the new one

  static std::size_t scratch_size(const Sizes& n) {
    return 2 * n.C * n.F + 2 * n.C * n.C + 5 * n.C;
  }
  Chunk(const Sizes& n, Arena& arena)
      : q(arena.take(n.C * n.F)),
        k(arena.take(n.C * n.F)),
        log_key(arena.take(n.C)),
        top(arena.take(n.C)),
        past(arena.take(n.C)),
        carry(arena.take(n.C)),
        weight(arena.take(n.C * n.C)),
        product(arena.take(n.C * n.C)),
        normalizer(arena.take(n.C)) {}

  void load_keys(const Sizes& n, const real* keys, std::size_t count, real rate,
                 FeatureScale scale) {
    rows = count;
    load_features(keys, n.feature_stride(), rows, n.F, scale, k, log_key);
    for (std::size_t j = 0; j < rows; ++j) log_key[j] += rate * real(j);
  }
  void load_queries(const Sizes& n, const real* queries, FeatureScale scale) {
    load_features(queries, n.feature_stride(), rows, n.F, scale, q,
                  normalizer);  // a query's scale cancels
  }

  /// Weights between the state of the past, in units of exp(unit), and this chunk.
  void weigh(real unit) {
    real maximum = unit;
    for (std::size_t i = 0; i < rows; ++i) {
      maximum = log_key[i] > maximum ? log_key[i] : maximum;
      top[i] = maximum;
      past[i] = math::exp(unit - maximum);
    }
    for (std::size_t j = 0; j < rows; ++j) carry[j] = math::exp(log_key[j] - maximum);
    keep = math::exp(unit - maximum);
  }

  /// weight, product = weight * (q k^T), and the normalizer, to which the past adds its weights.
  void multiply(const Sizes& n, const real* past_weights, real floor) {
    gemm(Transpose::no, Transpose::yes, rows, rows, n.F, 1, q, n.F, k, n.F, 0, product, n.C);
    for (std::size_t i = 0; i < rows; ++i) {
      real *w = weight + i * n.C, *p = product + i * n.C;
      for (std::size_t j = 0; j <= i; ++j) w[j] = math::exp(log_key[j] - top[i]);
      for (std::size_t j = 0; j <= i; ++j) p[j] *= w[j];
      std::fill(w + i + 1, w + rows, real(0));
      std::fill(p + i + 1, p + rows, real(0));
      normalizer[i] = safe_inverse(
          sum_row(p, i + 1) + past[i] * dot_row(q + i * n.F, past_weights, n.F), floor);
    }
  }
};

/// Sums over the past: values (F, d) and weights (F) in units of exp(unit).
struct State {
  real *values, *weights;
  real unit = nothing;

  static std::size_t scratch_size(const Sizes& n) { return n.F * n.d + n.F; }
  State(const Sizes& n, Arena& arena) : values(arena.take(n.F * n.d)), weights(arena.take(n.F)) {}
  void clear(const Sizes& n) { std::fill_n(values, scratch_size(n), real(0)); }

  /// `next` = keep * this + sum_j carry_j k_j (v_j, 1), then relative to the next chunk's first
  /// token.
  void advance(const Sizes& n, const Chunk& chunk, const real* v, real rate, real* weighted_keys,
               State& next) const {
    for (std::size_t f = 0; f < n.F; ++f) next.weights[f] = chunk.keep * weights[f];
    for (std::size_t j = 0; j < chunk.rows; ++j) {
      const real* key = chunk.k + j * n.F;
      real* weighted = weighted_keys + j * n.F;
      for (std::size_t f = 0; f < n.F; ++f) weighted[f] = chunk.carry[j] * key[f];
      for (std::size_t f = 0; f < n.F; ++f) next.weights[f] += weighted[f];
    }
    if (next.values != values) std::copy_n(values, n.F * n.d, next.values);
    gemm(Transpose::yes, Transpose::no, n.F, n.d, chunk.rows, 1, weighted_keys, n.F, v,
         n.value_stride(), chunk.keep, next.values, n.d);
    next.unit = chunk.top[chunk.rows - 1] - rate * real(chunk.rows);
  }
};

struct Inputs {
  Sizes n;
  const real *q, *k, *v, *rate;
  FeatureScale scale;
  real floor;
  real rate_of(std::size_t h) const { return rate ? rate[h] : real(0); }
};

/// Gradient of the numerators and denominators: numerator_i = g_i / den_i (C, d), weight_i = -(g_i
/// . y_i) / den_i (C), or 0 where the denominator is the floor.
inline void split_quotient(const Sizes& n, std::size_t rows, const real* g, const real* y,
                           const real* normalizer, real floor, real* numerator, real* weight) {
  for (std::size_t i = 0; i < rows; ++i) {
    const real *gi = g + i * n.value_stride(), *yi = y + i * n.value_stride();
    const bool raised = floor > 0 && normalizer[i] == 1 / floor;
    weight[i] = raised ? real(0) : -dot_row(gi, yi, n.d) * normalizer[i];
    for (std::size_t e = 0; e < n.d; ++e) numerator[i * n.d + e] = gi[e] * normalizer[i];
  }
}

/// to_i = from_i + factor_i (extra_i + offset_i direction), from in place. (rows, F)
inline void add_outer_part(std::size_t rows, std::size_t F, const real* factor, const real* extra,
                           const real* offset, const real* direction, real* to) {
  for (std::size_t i = 0; i < rows; ++i) {
    const real amount = offset ? offset[i] : real(1);
    for (std::size_t f = 0; f < F; ++f) {
      to[i * F + f] += factor[i] * (extra[i * F + f] + amount * direction[f]);
    }
  }
}

/// Gradients of features (rows, F) go out with stride H F; those of logarithms are multiplied by
/// the features.
inline void store_features(const Sizes& n, std::size_t rows, const real* gradient,
                           const real* features, FeatureScale scale, real* out) {
  for (std::size_t i = 0; i < rows; ++i) {
    const real *g = gradient + i * n.F, *f = features + i * n.F;
    real* to = out + i * n.feature_stride();
    if (scale == FeatureScale::linear) {
      std::copy_n(g, n.F, to);
    } else {
      for (std::size_t j = 0; j < n.F; ++j) to[j] = g[j] * f[j];
    }
  }
}

void attend_causally(const Inputs& in, Tensor& out);
void attend_causally_backward(const Inputs& in, const Tensor& y, const Tensor& g,
                              AttentionGradients& gradients);
void attend_bidirectionally(const Inputs& in, Tensor& out);
void attend_bidirectionally_backward(const Inputs& in, const Tensor& y, const Tensor& g,
                                     AttentionGradients& gradients);

}  // namespace linear_attention_parts
}  // namespace bochner::inline BOCHNER_PRECISION
