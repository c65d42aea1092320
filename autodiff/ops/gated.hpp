#pragma once
/// Gated linear units: each element of the first half of the last axis, times a function of its
/// partner in the second half.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns a sigmoid(b) for x = [a, b]. (.., 2 H) -> (.., H). Dauphin et al., "Language modeling
/// with gated convolutional networks", 2017.
Var glu(const Var& x);
/// Returns a silu(b) for x = [a, b]. (.., 2 H) -> (.., H). Shazeer, "GLU variants improve
/// transformer", 2020.
Var swiglu(const Var& x);

}  // namespace bochner::inline BOCHNER_PRECISION
