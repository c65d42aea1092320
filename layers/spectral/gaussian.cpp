#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/spectral/density.hpp>

namespace bochner::inline BOCHNER_PRECISION {

GaussianDensity::GaussianDensity(const DensitySpec& spec)
    : SpectralDensity(spec),
      mean_({spec.heads, 1, spec.dim}),
      log_scale_(filled({spec.heads, 1, spec.dim}, real(spec.log_scale))) {}

Var GaussianDensity::sample(Tape& tape, const Var& noise) {
  return tape(mean_) + exp(tape(log_scale_)) * noise;
}

void GaussianDensity::visit(Visitor& visitor) {
  visitor("mean", mean_);
  visitor("log_scale", log_scale_);
  SpectralDensity::visit(visitor);
}

}  // namespace bochner::inline BOCHNER_PRECISION
