#pragma once
/// Limits on gradients. Parameters without a gradient do not count.

#include <bochner/autodiff/tape.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Euclidean norm of all gradients together; NaN or infinite if one element is.
double gradient_norm(const std::vector<NamedParameter>& parameters);

/// Scales all gradients by limit / norm where the norm exceeds the limit. Returns the norm before;
/// when that is not finite, the gradients are as they were.
double clip_by_norm(const std::vector<NamedParameter>& parameters, double limit);

/// Moves every element of the gradients into [-limit, limit]; NaN stays NaN.
void clip_by_value(const std::vector<NamedParameter>& parameters, double limit);

}  // namespace bochner::inline BOCHNER_PRECISION
