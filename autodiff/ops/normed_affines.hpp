#pragma once
/// Several linear maps of the same rows in one op.

#include <bochner/autodiff/ops/normalisation.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// (D, E) and (E)
struct LinearMap {
  Var w, bias;
};

/// y_i = norm(x) w_i + bias_i, each of `shape`, rows of E. Rows are normalised while they are in
/// cache, and their gradients summed there. (.., D), maps of one E -> shape each
std::vector<Var> normed_affines(const Var& x, const RowNorm& norm,
                                const std::vector<LinearMap>& maps, const Shape& shape);

}  // namespace bochner::inline BOCHNER_PRECISION
