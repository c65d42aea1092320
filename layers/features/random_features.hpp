#pragma once
/// Estimators by random frequencies, and the three classical ones of the softmax kernel. y = x /
/// d^(1/4); frequencies w_i (H, m, d) are drawn from N(0, I) in the formulas and from a learned
/// density in use.

#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/feature_map.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Estimates a kernel by a mean over m draws, the same for queries and keys.
struct Estimator {
  /// (.., H, d), (H, m, d) -> (.., H, F)
  Features (*features)(const Var& x, const Var& w);
  double (ScaledPair::*kernel)() const;
  double (*variance)(const ScaledPair& pair);  ///< of one draw
  bool positive;
  double (*second_moment)(const ScaledPair& pair, const WeightedMoment& moment);
  bool even = false;
};
/// The map of an estimator and one set of frequencies; adds it under a name.
FeatureMaps::Factory feature_map_of(const Estimator& estimator);
void add_estimator(FeatureMaps& all, const char* name, const Estimator& estimator);

/// w and -w: positive features for both are the hyperbolic ones. (H, m, d) -> (H, 2m, d)
Var both_signs(const Var& w);
/// No more than this of |y|^2 / 2 counts in trigonometric features, 36 in float: sums over a
/// million tokens of products of two are numbers then. Estimates are noise long before.
double largest_trigonometric_exponent();
/// The trigonometric features of x for frequencies w. (.., H, d), (H, m, d) -> (.., H, 2m)
Var trigonometric_features(const Var& x, const Var& w);
/// [cos(w_i . y), sin(w_i . y)] / sqrt(m): the Gaussian kernel. (.., H, d), (H, m, d) -> (.., H,
/// 2m)
Var fourier_features(const Var& y, const Var& w);

}  // namespace bochner::inline BOCHNER_PRECISION
