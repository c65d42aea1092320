#include <bochner/layers/spectral/base_draws.hpp>
#include <bochner/layers/spectral/density.hpp>

namespace bochner::inline BOCHNER_PRECISION {

using AddDensities = void(Densities& all);
AddDensities add_gaussians, add_mixture, add_heavy_tailed, add_isotropic, add_flow, add_free;

namespace {

/// Returns the offset of a head's log scale from the mean; heads span `spread` octaves.
double head_offset(const DensitySpec& spec, std::size_t head) {
  if (spec.heads < 2) return 0;
  return spec.spread * std::numbers::ln2 * (double(head) / double(spec.heads - 1) - 0.5);
}

}  // namespace

SpectralDensity::SpectralDensity(const DensitySpec& spec, std::size_t auxiliary)
    : spec_(spec), auxiliary_(auxiliary), noise_(new_noise(0)) {}

Tensor SpectralDensity::new_noise(std::uint64_t round) const {
  return base_draws(spec_.draws, spec_.heads, spec_.m, spec_.dim, auxiliary_,
                    RandomFunction{spec_.seed, Purpose::spectral, stream_of("noise") + round});
}

Var SpectralDensity::new_draws(Tape& tape) {
  const Var frequencies = sample(tape, current_noise(tape));
  const Shape expected{noise_.shape()[0], noise_.shape()[1], spec_.dim};
  require(frequencies.exists(), "density", "\"", spec_.kind, "\": sample() returned nothing");
  require(frequencies.shape() == expected, "density", "\"", spec_.kind, "\": sample() returned ",
          frequencies.shape(), ", expected (H, m, d) = ", expected);
  return frequencies;
}

Var SpectralDensity::current_noise(Tape& tape) {
  const std::uint64_t round = spec_.redraw == 0 || !tape.training ? 0 : tape.step / spec_.redraw;
  if (round == 0) return tape.view(noise_);
  if (round != round_) redrawn_ = std::make_shared<const Tensor>(new_noise(round));
  round_ = round;
  return Var(redrawn_, nullptr, &tape);
}

void SpectralDensity::init_log_scale(const std::vector<double>& log_scale) {
  const std::size_t all = spec_.heads * spec_.dim;
  require(log_scale.size() == spec_.dim || log_scale.size() == all, "density", "expected ",
          spec_.dim, " log scales, got ", log_scale.size());
  std::vector<double> head_log_scales(all);
  for (std::size_t i = 0; i < all; ++i)
    head_log_scales[i] = log_scale[i % log_scale.size()] + head_offset(spec_, i / spec_.dim);
  init_head_log_scales(head_log_scales);
}

void SpectralDensity::set_log_scale(const std::vector<double>&) {
  require(false, "density", "\"", spec_.kind,
          "\" must override set_log_scale() for a spread or a start from data");
}

void SpectralDensity::fit(const std::vector<double>&) {
  require(false, "density", "\"", spec_.kind, "\" cannot be initialised by EM; use \"mixture\"");
}

Var SpectralDensity::log_densities(Tape&, const Var&) {
  require(false, "density", "\"", spec_.kind, "\" has no log density on the tape");
  return {};
}

Densities& densities() {
  static Densities registry = [] {
    Densities all("density", {});
    for (const auto add :
         {add_gaussians, add_mixture, add_heavy_tailed, add_isotropic, add_flow, add_free})
      add(all);
    return std::move(all).built_in();
  }();
  return registry;
}

std::unique_ptr<SpectralDensity> make_density(const DensitySpec& spec) {
  using Form = ParameterPosterior::Form;
  auto density = densities().make(spec.kind, spec);
  require(std::ranges::count(buffers_of(*density), "noise", &NamedTensor::name) > 0, "density",
          "\"", spec.kind, "\": its visit() must call SpectralDensity::visit(visitor)");
  const bool is_point = spec.posterior == "none";
  if (is_point && spec.prior == 0) return density;
  const Form form = is_point                   ? Form::point
                    : spec.posterior == "full" ? Form::full
                                               : Form::mean_field;
  density->posterior_ = std::make_unique<ParameterPosterior>(parameters_of(*density), form,
                                                             spec.prior > 0 ? spec.prior : 1.0);
  return density;
}

}  // namespace bochner::inline BOCHNER_PRECISION
