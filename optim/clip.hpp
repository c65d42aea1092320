#pragma once
/// Gradient clipping. Parameters without a gradient are skipped.

#include <bochner/autodiff/tape.hpp>
#include <limits>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns the Euclidean norm of all gradients together; NaN or infinite if an element is.
double gradient_norm(const std::vector<NamedParameter>& parameters);

/// Limits that an update applies to gradients before it uses them; none by default.
struct GradientLimit {
  real factor = 1;                                       ///< multiplies every element
  real largest = std::numeric_limits<real>::infinity();  ///< then bounds absolute values
  void apply(real* gradient, std::size_t n) const;
};

/// Applies one limit to all parameters.
void limit_all(const GradientLimit& limit, const std::vector<NamedParameter>& parameters);

/// Returns the limit that scales gradients of this norm to `limit`; none if they are within it or
/// not finite. Limits are positive.
GradientLimit norm_limit(double norm, double limit);

/// Scales all gradients by limit / norm if the norm exceeds the limit. Returns the original norm;
/// if it is not finite, gradients are unchanged.
double clip_by_norm(const std::vector<NamedParameter>& parameters, double limit);

/// Clamps every gradient element to [-limit, limit]; NaN stays NaN.
void clip_by_value(const std::vector<NamedParameter>& parameters, double limit);

}  // namespace bochner::inline BOCHNER_PRECISION
