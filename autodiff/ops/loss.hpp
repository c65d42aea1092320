#pragma once
/// Losses: means over elements as a scalar of shape (); sums are taken in double.

#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns the mean over labels != ignore of -ln softmax(logits)[label]; with smoothing s the
/// target is (1 - s) on the label plus s / V on every class. Zero without labels. logits (.., V),
/// labels (..) -> ()
Var cross_entropy(const Var& logits, const Indices& labels, real smoothing = 0,
                  std::int32_t ignore = -1);
/// Returns cross_entropy() of the logits x w + bias; computes one tile of rows of logits at a time,
/// once, together with its gradients. x (.., D), (D, V), (V), labels (..) -> ()
Var affine_cross_entropy(const Var& x, const Var& w, const Var& bias, const Indices& labels,
                         real smoothing = 0, std::int32_t ignore = -1);
/// Returns the mean of (x - t)^2. (..), (..) -> ()
Var mean_squared_error(const Var& x, const Tensor& targets);
/// Returns the mean of |x - t|. (..), (..) -> ()
Var mean_absolute_error(const Var& x, const Tensor& targets);
/// Returns the mean of e^2 / 2 for |e| <= delta, else delta (|e| - delta / 2). (..), (..) -> ()
Var huber(const Var& x, const Tensor& targets, real delta = 1);
/// Returns the mean over targets and levels of max(p e, (p - 1) e), e = t - x: minimal where x[..,
/// q] is the quantile of level p[q] (Koenker and Bassett, "Regression quantiles", 1978). Levels are
/// in (0, 1). (.., Q), (..), Q levels -> ()
Var pinball(const Var& x, const Tensor& targets, const std::vector<double>& levels);

}  // namespace bochner::inline BOCHNER_PRECISION
