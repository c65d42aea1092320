#pragma once
/// Features of queries and keys for linear attention, and the ops that feature maps use.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Features, or logarithms of positive features, which linear attention exponentiates with a
/// stabiliser that never looks ahead.
enum class FeatureScale { linear, logarithmic };

/// Features of tokens (B, T, H): stored, or a rule by which linear attention computes them chunk by
/// chunk in cache, without an array (B, T, H, F).
struct Features {
  Var tokens;  ///< stored values (B, T, H, F), or x (B, T, H, d) of exponential_features()
  FeatureScale scale = FeatureScale::linear;
  Var frequencies;  ///< w (H, F, d) of exponential_features(), or empty
  real factor = 1;  ///< of the frequencies
  Var offset;       ///< (H, F) or empty
  real norm = 0;
  real log_factor = 0;  ///< of all features; attention divides it out, values() includes it
  Var coefficients;     ///< (B, T, H, G, S) of product_features() in their scale, or empty

  Features(Var stored, FeatureScale scale = FeatureScale::linear)
      : tokens(std::move(stored)), scale(scale) {}

  bool are_exponential() const { return frequencies.exists(); }
  bool are_products() const { return coefficients.exists(); }
  Shape shape() const;
  /// Returns the base of product_features(); the features themselves if there are no coefficients.
  Features base() const {
    Features base = *this;
    base.coefficients = Var();
    return base;
  }
  /// Returns features (B, T, H, F) in their scale on the tape, by ordinary ops unless stored.
  Var values() const;
};

inline Features from_logarithms(Var logarithms) {
  return Features(std::move(logarithms), FeatureScale::logarithmic);
}

/// Returns phi_f(x) = exp(factor w_f . x + offset_f - norm |x|^2). x (B, T, H, d), w (H, F, d),
/// offset (H, F) or empty -> (B, T, H, F)
Features exponential_features(const Var& x, const Var& w, real norm, const Var& offset = {},
                              real factor = 1);

/// Returns phi_(g, s, j) = c_gs base_gj for G groups of m base features: products of two feature
/// sets, whose inner products multiply, summed over groups. Logarithms are added. c (B, T, H, G,
/// S), base (B, T, H, G m) -> (B, T, H, G S m). The base may itself be products if G = 1.
Features product_features(const Var& c, Features base);

/// Throws unless queries and keys are (B, T, H, F), F > 0, values (B, T, H, d), the chunk is not
/// empty, and lengths, if any, fit B sequences.
void require_feature_attention(const char* op, const Shape& q, const Shape& k, const Shape& v,
                               std::size_t chunk, const std::vector<std::size_t>& lengths);

/// Computes the Walsh-Hadamard transform of the last axis in natural order, divided by sqrt(n): its
/// own inverse and adjoint, n log n additions. n must be a power of two. (.., n) -> (.., n)
Var hadamard(const Var& x);
/// Returns all products y[i m + j] = a[i] b[j], so that y(a, b) . y(a', b') = (a . a')(b . b').
/// (.., n), (.., m) -> (.., n m)
Var feature_product(const Var& a, const Var& b);
/// Returns x_i^2 / sqrt(2) and x_i x_j, i < j, so y(x) . y(x') = (x . x')^2 / 2. (.., d) -> (.., d
/// (d + 1) / 2)
Var packed_square(const Var& x);

}  // namespace bochner::inline BOCHNER_PRECISION
