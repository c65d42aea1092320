#pragma once
/// Limits on gradients. Parameters without a gradient do not count.

#include <bochner/autodiff/tape.hpp>
#include <limits>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Euclidean norm of all gradients together; NaN or infinite if one element is.
double gradient_norm(const std::vector<NamedParameter>& parameters);

/// What an update does to gradients before it uses them; nothing, unless told.
struct GradientLimit {
  real factor = 1;                                       ///< of every element
  real largest = std::numeric_limits<real>::infinity();  ///< its absolute value, then
  /// NaN stays NaN.
  void apply(real* gradient, std::size_t n) const;
};

/// Of all parameters, at once.
void limit_all(const GradientLimit& limit, const std::vector<NamedParameter>& parameters);

/// What brings gradients of this norm to the limit; nothing where they are within it, or not
/// finite. Limits are positive.
GradientLimit norm_limit(double norm, double limit);

/// Scales all gradients by limit / norm where the norm exceeds the limit. Returns the norm before;
/// when that is not finite, the gradients are as they were.
double clip_by_norm(const std::vector<NamedParameter>& parameters, double limit);

/// Moves every element of the gradients into [-limit, limit]; NaN stays NaN.
void clip_by_value(const std::vector<NamedParameter>& parameters, double limit);

}  // namespace bochner::inline BOCHNER_PRECISION
