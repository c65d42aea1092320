#pragma once
/// Learned quantile functions: map noise to samples of a distribution.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns ln x with P(shape, x) = Phi(score), the log quantile of Gamma(shape, 1). shape > 0
/// broadcasts to score; no gradient of the score. (..), (..) -> (..)
Var log_gamma_quantile(const Var& shape, const Tensor& score);

/// Evaluates a monotone rational-quadratic spline through (knot_x, knot_y) with these slopes; y = x
/// outside [first knot, last knot]. Knots ascend, slopes are positive, and the ends should lie on y
/// = x with slope 1. The knots' leading axes broadcast to x. (..), (.., K), (.., K), (.., K) ->
/// (..). Durkan et al., "Neural spline flows", 2019.
Var monotone_spline(const Var& x, const Var& knot_x, const Var& knot_y, const Var& slope);

}  // namespace bochner::inline BOCHNER_PRECISION
