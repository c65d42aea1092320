#pragma once
/// Gated linear units: the first half of the last axis, each element times a function of its
/// partner in the second half.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// y = a sigmoid(b) for x = [a, b]. (.., 2 H) -> (.., H). Dauphin et al., "Language modeling with
/// gated convolutional networks", 2017.
Var glu(const Var& x);
/// y = a silu(b) for x = [a, b]. (.., 2 H) -> (.., H). Shazeer, "GLU variants improve
/// transformer", 2020.
Var swiglu(const Var& x);

}  // namespace bochner::inline BOCHNER_PRECISION
