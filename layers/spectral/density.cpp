#include <bochner/layers/spectral/base_draws.hpp>
#include <bochner/layers/spectral/density.hpp>

namespace bochner::inline BOCHNER_PRECISION {

SpectralDensity::SpectralDensity(const DensitySpec& spec)
    : noise_(base_draws(spec.draws, spec.heads, spec.m, spec.dim,
                        RandomFunction{spec.seed, Purpose::spectral, stream_of("noise")})) {}

void SpectralDensity::visit(Visitor& visitor) { visitor("noise", noise_); }

Registry<SpectralDensity, DensitySpec>& densities() {
  static Registry<SpectralDensity, DensitySpec> registry("density",
                                                         {{"gaussian", make<GaussianDensity>}});
  return registry;
}

std::unique_ptr<SpectralDensity> make_density(const DensitySpec& spec) {
  return densities().make(spec.kind, spec);
}

}  // namespace bochner::inline BOCHNER_PRECISION
