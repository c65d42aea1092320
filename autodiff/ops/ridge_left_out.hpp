#pragma once
/// Ridge regression in closed form, as a loss of its features.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns the prediction for each row by the ridge regression, with penalty 1 and an intercept, of
/// all other rows on their targets. x (n > 1, d), targets (n, K) -> (n, K). With A = (x x^T + 100
/// 1 1^T + I)^-1, row i is y_i - (A y)_i / A_ii (Hastie, Tibshirani, Friedman, "The elements of
/// statistical learning", 2009, section 7.10).
Var ridge_left_out(const Var& x, const Tensor& targets);

}  // namespace bochner::inline BOCHNER_PRECISION
