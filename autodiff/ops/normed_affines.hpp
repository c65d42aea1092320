#pragma once
/// Several linear maps of the same normalised rows in one op.

#include <bochner/autodiff/ops/normalisation.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct LinearMap {
  Var w, bias;
};

/// Returns y_i = norm(x) w_i + bias_i, each of `shape`, rows of E. Normalises rows and sums their
/// gradients while in cache. (.., D), maps with equal E -> shape each
std::vector<Var> normed_affines(const Var& x, const RowNorm& norm,
                                const std::vector<LinearMap>& maps, const Shape& shape);

}  // namespace bochner::inline BOCHNER_PRECISION
