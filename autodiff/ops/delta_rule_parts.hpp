#pragma once
/// What the delta rule is made of: one chunk of tokens and the walks over chunks.

#include <bochner/autodiff/ops/linear_attention_parts.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace delta_rule_parts {

using linear_attention_parts::Decay;
using linear_attention_parts::FeatureSource;
using linear_attention_parts::Place;

struct Sizes {
  std::size_t B, T, H, F, d, C;
  std::size_t state() const { return F * d; }
  /// Chunks of the longest sequence.
  std::size_t chunks() const { return (T + C - 1) / C; }
};

struct Inputs {
  Sizes n;
  std::unique_ptr<FeatureSource> q, k;
  const real *v, *strength;  // (B, T, H, d), (B, T, H)
  Decay decay;
  const std::vector<std::size_t>& lengths;
  bool reverse;

  /// Where token i of a place is in (B, T, H), in the order in which tokens are written.
  std::size_t token(const Place& place, std::size_t i) const {
    const std::size_t t = place.first + (reverse ? place.rows - 1 - i : i);
    return (place.b * n.T + t) * n.H + place.h;
  }
};

/// Gradients of everything but the features, which go to their sources.
struct OtherGradients {
  Tensor v, strength;        ///< (B, T, H, d), (B, T, H)
  std::vector<double> rate;  ///< (B, H), or (B, T, H) if there is a rate for each token
};

/// Rows (F) divided by their lengths, which are kept; rows of zeros stay so.
void to_unit_length(std::size_t rows, std::size_t F, real* x, real* length);

/// `states`: (B, H, segments, F, d), made here; what the backward pass starts its segments from.
void run_forward(const Inputs& in, Tensor& states, Tensor& out);
void run_backward(const Inputs& in, const Tensor& states, const Tensor& g,
                  OtherGradients& gradients);

}  // namespace delta_rule_parts
}  // namespace bochner::inline BOCHNER_PRECISION
