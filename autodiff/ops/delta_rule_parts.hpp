#pragma once
/// What the delta rule is made of: one chunk of tokens and the walks over chunks.

#include <bochner/autodiff/ops/linear_attention_parts.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace delta_rule_parts {

using linear_attention_parts::FeatureSource;
using linear_attention_parts::Place;

struct Sizes {
  std::size_t B, T, H, F, d, C;
  std::size_t state() const { return F * d; }
  /// Chunks of the longest sequence.
  std::size_t chunks() const { return (T + C - 1) / C; }
};

/// Rates of a head (H), of its channels (H, F), or of each token (B, T, H), (B, T, H, F); null for
/// none.
struct Fading {
  const real* rate;
  bool by_token;
  std::size_t width;  ///< rates of a head: 1 or F
};

struct Inputs {
  Sizes n;
  std::unique_ptr<FeatureSource> q, k;
  const real *v, *strength;  // (B, T, H, d), (B, T, H)
  Fading fading;
  const std::vector<std::size_t>& lengths;
  bool reverse;

  /// Where token i of a place is in (B, T, H), in the order in which tokens are written.
  std::size_t token(const Place& place, std::size_t i) const {
    const std::size_t t = place.first + (reverse ? place.rows - 1 - i : i);
    return (place.b * n.T + t) * n.H + place.h;
  }
  const real* rates(const Place& place, std::size_t i) const {
    return fading.rate + (fading.by_token ? token(place, i) : place.h) * fading.width;
  }
};

/// Gradients of everything but the features, which go to their sources.
struct OtherGradients {
  Tensor v, strength;          ///< (B, T, H, d), (B, T, H)
  Tensor rate;                 ///< of each token, or empty
  std::vector<double> shared;  ///< of rates that tokens share: (B, H) or (B, H, F)
};

/// x factor, and 0 for next to nothing, since denormal numbers are slow.
inline real faded(real x, real factor) {
  constexpr real nothing = std::numeric_limits<real>::min() * 1024;
  return x * factor < nothing && x * factor > -nothing ? real(0) : x * factor;
}

/// The pairs of one chunk where every channel fades on its own: `left` (rows, F) is what a token
/// leaves of each channel.
struct ChannelPairs {
  std::size_t rows, F, C;
  const real* units;  ///< (2 rows, F): keys, queries
  const real* left;   ///< (rows, F)
  real* passing;      ///< (F): scratch

  /// (2 rows, C): sum_f unit_if left_(j+1)f .. left_if key_jf, 0 for keys i <= j and queries i < j.
  void see(real* seen) const;
  /// Adds the gradients of units that read (2 rows, F) and of keys that are written (rows, F), for
  /// slopes of what is seen, which are heeded where that is not 0 by definition.
  void differentiate(const real* slopes, real* reading, real* writing) const;
};

/// Rows (F) divided by their lengths, which are kept; rows of zeros stay so.
void to_unit_length(std::size_t rows, std::size_t F, real* x, real* length);

/// `states`: (B, H, segments, F, d), made here; what the backward pass starts its segments from.
void run_forward(const Inputs& in, Tensor& states, Tensor& out);
void run_backward(const Inputs& in, const Tensor& states, const Tensor& g,
                  OtherGradients& gradients);

}  // namespace delta_rule_parts
}  // namespace bochner::inline BOCHNER_PRECISION
