#pragma once
/// The whole of a residual MLP in one op.

#include <bochner/autodiff/ops/normalisation.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Two linear maps with a gelu between them: (D, H), (H), (H, D), (D).
struct MLPWeights {
  Var up, up_bias, down, down_bias;
};

/// y = x + gelu(norm(x) up + up_bias) down + down_bias. Rows pass through all of it while they are
/// in cache, and again backward: of the hidden rows, the argument of gelu is kept alone, where the
/// three ops in turn write, keep and read five arrays of that size. (.., D) -> (.., D)
Var feed_forward(const Var& x, const RowNorm& norm, const MLPWeights& weights);

}  // namespace bochner::inline BOCHNER_PRECISION
