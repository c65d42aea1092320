#pragma once
/// Quantile functions that are learned: noise goes in, a point of a distribution comes out.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// y = ln of the x with P(shape, x) = Phi(score): the quantile of Gamma(shape, 1) at the
/// probability of a normal score. shape > 0 broadcasts to score; no gradient to the score. (..),
/// (..) -> (..)
Var log_gamma_quantile(const Var& shape, const Tensor& score);

/// Piecewise y = rational quadratic through (knot_x, knot_y) with these slopes at the knots; y = x
/// outside [first knot, last knot]. Knots ascend, slopes are positive, and the ends should lie on y
/// = x with slope 1. The knots' leading axes broadcast to x. (..), (.., K), (.., K), (.., K) ->
/// (..). Durkan et al., "Neural spline flows", 2019.
Var monotone_spline(const Var& x, const Var& knot_x, const Var& knot_y, const Var& slope);

}  // namespace bochner::inline BOCHNER_PRECISION
