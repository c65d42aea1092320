#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/exponents.hpp>
#include <bochner/layers/features/random_features.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

Var both_signs(const Var& w) { return concat({w, -w}, 1); }

Var fourier_features(const Var& y, const Var& w) {
  const Var angles = project_heads(y, w);
  return concat({cos(angles), sin(angles)}, -1) * (1 / std::sqrt(double(w.dim(1))));
}

Var trigonometric_features(const Var& x, const Var& w) {
  const Var y = softmax_scaled(x);
  return fourier_features(y, w) * exp(0.5 * sum(square(y), -1, keep));
}

Features SoftmaxEstimator::features(Tape& tape, const Var& x) {
  return estimate(x, frequencies_.draws(tape));
}

std::optional<double> SoftmaxEstimator::kernel(Point q, Point k, std::size_t) const {
  return ScaledPair(q, k).softmax();
}

std::optional<double> SoftmaxEstimator::variance(Point q, Point k, std::size_t) const {
  return variance_of_one(ScaledPair(q, k)) / double(m_);
}

Features PositiveFeatures::estimate(const Var& x, const Var& w) const {
  return exponential(x, w, 0.5);
}

double PositiveFeatures::variance_of_one(const ScaledPair& pair) const {
  return positive_variance(pair);
}

Features HyperbolicFeatures::estimate(const Var& x, const Var& w) const {
  return exponential(x, both_signs(w), 0.5);
}

double HyperbolicFeatures::variance_of_one(const ScaledPair& pair) const {
  return hyperbolic_variance(pair);
}

Features TrigonometricFeatures::estimate(const Var& x, const Var& w) const {
  return trigonometric_features(x, w);
}

double TrigonometricFeatures::variance_of_one(const ScaledPair& pair) const {
  return trigonometric_variance(pair);
}

}  // namespace bochner::inline BOCHNER_PRECISION
