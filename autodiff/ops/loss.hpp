#pragma once
/// Losses: each gives the mean over its elements as a scalar of shape (); sums are taken in double.

#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Mean over labels != ignore of -ln softmax(logits)[label]; with smoothing s the target is (1 - s)
/// on the label and s / V on every class. Zero if all labels are ignored. logits (.., V), labels
/// (..) -> ()
Var cross_entropy(const Var& logits, const Indices& labels, real smoothing = 0,
                  std::int32_t ignore = -1);
/// cross_entropy() of the logits x w + bias, and its gradients, without all logits at once: a tile
/// of rows of them exists at a time, in cache, and they are computed once. x (.., D), (D, V), (V),
/// labels (..) -> ()
Var affine_cross_entropy(const Var& x, const Var& w, const Var& bias, const Indices& labels,
                         real smoothing = 0, std::int32_t ignore = -1);
/// Mean of (x - t)^2. (..), (..) -> ()
Var mean_squared_error(const Var& x, const Tensor& targets);
/// Mean of |x - t|. (..), (..) -> ()
Var mean_absolute_error(const Var& x, const Tensor& targets);
/// Mean of e^2 / 2 for |e| <= delta, else delta (|e| - delta / 2), e = x - t. (..), (..) -> ()
Var huber(const Var& x, const Tensor& targets, real delta = 1);
/// Mean over targets and levels of max(p e, (p - 1) e), e = t - x: least where x[.., q] is the
/// quantile of level p[q] (Koenker and Bassett, "Regression quantiles", 1978). Levels lie between 0
/// and 1. (.., Q), (..), Q levels -> ()
Var pinball(const Var& x, const Tensor& targets, const std::vector<double>& levels);

}  // namespace bochner::inline BOCHNER_PRECISION
