#pragma once
/// Features of queries and keys: what feature maps give to linear attention, and what they are made
/// of besides products and elementwise ops.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Whether numbers are features, or logarithms of positive features, which linear attention
/// exponentiates with a stabiliser that never looks ahead.
enum class FeatureScale { linear, logarithmic };

/// Features of tokens (B, T, H): stored, or a rule by which linear attention computes them chunk by
/// chunk in cache, so that no array (B, T, H, F) exists.
struct Features {
  Var tokens;  ///< stored values (B, T, H, F), or x (B, T, H, d) of exponential_features()
  FeatureScale scale = FeatureScale::linear;
  Var frequencies;  ///< w (H, F, d) of exponential_features(), or left out
  real factor = 1;  ///< of the frequencies
  Var offset;       ///< (H, F) or left out
  real norm = 0;
  real log_factor = 0;  ///< of all features: attention divides it out and leaves it to values()
  Var coefficients;     ///< (B, T, H, G, S) of product_features() in their scale, or left out

  Features(Var stored, FeatureScale scale = FeatureScale::linear)
      : tokens(std::move(stored)), scale(scale) {}

  bool are_exponential() const { return frequencies.exists(); }
  bool are_products() const { return coefficients.exists(); }
  /// (B, T, H, F)
  Shape shape() const;
  /// What coefficients multiply; the features themselves where there are none.
  Features base() const;
  /// (B, T, H, F) in their scale, on the tape: computed by ordinary ops where they are not stored.
  Var values() const;
};

inline Features from_logarithms(Var logarithms) {
  return Features(std::move(logarithms), FeatureScale::logarithmic);
}

/// phi_f(x) = exp(factor w_f . x + offset_f - norm |x|^2). x (B, T, H, d), w (H, F, d), offset (H,
/// F) or left out -> (B, T, H, F).
Features exponential_features(const Var& x, const Var& w, real norm, const Var& offset = {},
                              real factor = 1);

/// phi_(g, s, j) = c_gs base_gj, of G groups of m base features: the products of two sets of
/// features whose inner products multiply, summed over groups. Logarithms, c and base alike, are
/// added. c (B, T, H, G, S), base (B, T, H, G m) -> (B, T, H, G S m). The base may be products too
/// if G = 1.
Features product_features(const Var& c, Features base);

/// Throws unless queries and keys are (B, T, H, F), F > 0, and values (B, T, H, d), with a chunk
/// that is not empty, and with lengths, if any, for B sequences.
void require_feature_attention(const char* op, const Shape& q, const Shape& k, const Shape& v,
                               std::size_t chunk, const std::vector<std::size_t>& lengths);

/// Walsh-Hadamard transform of the last axis in natural order, divided by sqrt(n): its own inverse
/// and adjoint, n log n additions. n must be a power of two. (.., n) -> (.., n)
Var hadamard(const Var& x);
/// All products y[i m + j] = a[i] b[j], so that y(a, b) . y(a', b') = (a . a')(b . b'). (.., n),
/// (.., m) -> (.., n m)
Var feature_product(const Var& a, const Var& b);
/// x_i^2 / sqrt(2) and x_i x_j, i < j, row by row: y(x) . y(x') = (x . x')^2 / 2.
/// (.., d) -> (.., d (d + 1) / 2)
Var packed_square(const Var& x);

}  // namespace bochner::inline BOCHNER_PRECISION
