#include <bochner/layers/features/frequencies.hpp>
#include <bochner/layers/features/random_features.hpp>
#include <bochner/layers/features/weights.hpp>
#include <cmath>

/// Positive features of the Gaussian kernel, plain and weighted. Chen et al., "DiJiang", 2024.

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Computes phi(x) = exp(w_i . y - |y|^2) / sqrt(m), y = x / d^(1/4), F = m, for the kernel exp(-|y
/// - y'|^2 / 2): w ~ N(0, I) has uniform direction and chi_d radius.
Features pff(const Var& x, const Var& w) { return exponential(x, w, 1); }

double pff_variance(const ScaledPair& pair) {
  return positive_variance(pair) * std::exp(-pair.xx - pair.yy);
}

}  // namespace

void add_pff(FeatureMaps& all) {
  const Estimator estimator{pff, &ScaledPair::gaussian, pff_variance, true, pff_second_moment};
  add_estimator(all, "pff", estimator);
  for (const auto& [name, weights] : {std::pair{"wpff", "learned"}, {"wpff_fixed", "fixed"}}) {
    all.add(name, [plain = feature_map_of(estimator), weights = weights](FeatureSpec spec) {
      spec.weights = weights;
      return weighted_map(plain(spec), spec);
    });
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION
