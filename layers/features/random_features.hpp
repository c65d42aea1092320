#pragma once
/// The three classical estimators of the softmax kernel. y = x / d^(1/4); frequencies w_i (H, m, d)
/// are drawn from N(0, I) in the formulas and from a learned density in use.

#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/features/frequencies.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// What they share: one set of frequencies, exp(y . y') as kernel, a mean over m draws.
class SoftmaxEstimator : public FeatureMap {
 public:
  explicit SoftmaxEstimator(const FeatureSpec& spec) : m_(spec.m), frequencies_(spec) {}
  Features features(Tape& tape, const Var& x) final;
  std::optional<double> kernel(Point q, Point k, std::size_t head) const override;
  std::optional<double> variance(Point q, Point k, std::size_t head) const override;
  void visit(Visitor& visitor) override { frequencies_.visit(visitor); }

 protected:
  /// (.., H, d), (H, m, d) -> (.., H, F)
  virtual Features estimate(const Var& x, const Var& w) const = 0;
  virtual double variance_of_one(const ScaledPair& pair) const = 0;

 private:
  std::size_t m_;
  Frequencies frequencies_;
};

/// phi(x) = exp(w_i . y - |y|^2 / 2) / sqrt(m); F = m. Choromanski et al., "Performers", 2021.
class PositiveFeatures : public SoftmaxEstimator {
 public:
  using SoftmaxEstimator::SoftmaxEstimator;
  bool positive() const override { return true; }

 protected:
  Features estimate(const Var& x, const Var& w) const override;
  double variance_of_one(const ScaledPair& pair) const override;
};

/// phi(x) = [exp(w_i . y - |y|^2 / 2), exp(-w_i . y - |y|^2 / 2)] / sqrt(2m); F = 2m; exact at
/// y' = -y. Choromanski et al., 2021 (SM++).
class HyperbolicFeatures : public SoftmaxEstimator {
 public:
  using SoftmaxEstimator::SoftmaxEstimator;
  bool positive() const override { return true; }

 protected:
  Features estimate(const Var& x, const Var& w) const override;
  double variance_of_one(const ScaledPair& pair) const override;
};

/// phi(x) = exp(|y|^2 / 2) [cos(w_i . y), sin(w_i . y)] / sqrt(m); F = 2m; signed; exact at x' = x.
/// Rahimi and Recht, "Random features", 2007.
class TrigonometricFeatures : public SoftmaxEstimator {
 public:
  using SoftmaxEstimator::SoftmaxEstimator;

 protected:
  Features estimate(const Var& x, const Var& w) const override;
  double variance_of_one(const ScaledPair& pair) const override;
};

/// w and -w: positive features for both are the hyperbolic ones. (H, m, d) -> (H, 2m, d)
Var both_signs(const Var& w);
/// The trigonometric features of x for frequencies w. (.., H, d), (H, m, d) -> (.., H, 2m)
Var trigonometric_features(const Var& x, const Var& w);
/// [cos(w_i . y), sin(w_i . y)] / sqrt(m): the Gaussian kernel. (.., H, d), (H, m, d) -> (.., H,
/// 2m)
Var fourier_features(const Var& y, const Var& w);

}  // namespace bochner::inline BOCHNER_PRECISION
