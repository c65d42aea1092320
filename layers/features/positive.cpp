#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/feature_map.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

PositiveFeatures::PositiveFeatures(const FeatureSpec& spec)
    : density_(make_density(spec.density)) {}

Features PositiveFeatures::features(Tape& tape, const Var& x) {
  const double scale = std::pow(double(x.dim(-1)), -0.25);
  return exponential_features(x, scale * density_->draws(tape), real(0.5 * scale * scale));
}

void PositiveFeatures::visit(Visitor& visitor) { visitor("density", *density_); }

}  // namespace bochner::inline BOCHNER_PRECISION
