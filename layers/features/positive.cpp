#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/feature_map.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

PositiveFeatures::PositiveFeatures(const FeatureSpec& spec)
    : density_(make_density(spec.density)) {}

Features PositiveFeatures::features(Tape& tape, const Var& x) {
  const Var y = x * std::pow(double(x.dim(-1)), -0.25);
  return from_logarithms(project_heads(y, density_->draws(tape)) - 0.5 * sum(square(y), -1, keep));
}

void PositiveFeatures::visit(Visitor& visitor) { visitor("density", *density_); }

}  // namespace bochner::inline BOCHNER_PRECISION
