#pragma once
/// Estimators by random frequencies, with the classical ones of the softmax kernel. y = x /
/// d^(1/4); w_i (H, m, d) are from N(0, I) in formulas, and from a learned density in models.

#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/feature_map.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Kernel estimator: a mean over m draws, equal for queries and keys.
struct Estimator {
  /// Computes features. (.., H, d), (H, m, d) -> (.., H, F)
  Features (*features)(const Var& x, const Var& w);
  double (ScaledPair::*kernel)() const;
  double (*variance)(const ScaledPair& pair);  ///< of one draw
  bool positive;
  double (*second_moment)(const ScaledPair& pair, const WeightedMoment& moment);
  bool even = false;
};
/// Makes the map of an estimator and a set of frequencies; add_estimator() registers it.
FeatureMaps::Factory feature_map_of(const Estimator& estimator);
void add_estimator(FeatureMaps& all, const char* name, const Estimator& estimator);

/// Returns w and -w, which turn positive features into hyperbolic ones. (H, m, d) -> (H, 2m, d)
Var both_signs(const Var& w);
/// Returns the bound on |y|^2 / 2 in trigonometric features, 36 in float, which keeps sums of
/// products over a million tokens finite. Estimates are noise long before.
double max_trigonometric_exponent();
/// Computes trigonometric features of x. (.., H, d), (H, m, d) -> (.., H, 2m)
Var trigonometric_features(const Var& x, const Var& w);
/// Computes [cos(w_i . y), sin(w_i . y)] / sqrt(m), for the Gaussian kernel. (.., H, d), (H, m, d)
/// -> (.., H, 2m)
Var fourier_features(const Var& y, const Var& w);

}  // namespace bochner::inline BOCHNER_PRECISION
