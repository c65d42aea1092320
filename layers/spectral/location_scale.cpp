#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/spectral/densities.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

LocationScaleDensity::LocationScaleDensity(const DensitySpec& spec, std::size_t auxiliary)
    : SpectralDensity(spec, auxiliary),
      mean_({spec.heads, 1, spec.dim}),
      log_scale_(filled({spec.heads, 1, spec.dim}, real(spec.log_scale))) {}

Var LocationScaleDensity::sample(Tape& tape, const Var& noise) {
  return tape(mean_) + exp(tape(log_scale_)) * standardized(tape, noise);
}

void LocationScaleDensity::set_log_scale(const std::vector<double>& log_scale) {
  for (std::size_t i = 0; i < log_scale_.value().size(); ++i)
    log_scale_.value().data()[i] = real(log_scale[i]);
}

void LocationScaleDensity::visit(Visitor& visitor) {
  visitor("mean", mean_);
  visitor("log_scale", log_scale_);
  SpectralDensity::visit(visitor);
}

PointFunction LocationScaleDensity::kernel(std::size_t head) {
  const Characteristic standard = standard_characteristic(head);
  if (!standard) return {};
  return [=, mean = values_of(mean_, head),
          log_scale = values_of(log_scale_, head)](const double* lag) {
    std::vector<double> scaled(mean.size());
    double phase = 0;
    for (std::size_t j = 0; j < scaled.size(); ++j) {
      scaled[j] = std::exp(log_scale[j]) * lag[j];
      phase += mean[j] * lag[j];
    }
    return (std::polar(1.0, phase) * standard(scaled.data())).real();
  };
}

PointFunction LocationScaleDensity::log_density(std::size_t head) {
  const PointFunction standard = standard_log_density(head);
  if (!standard) return {};
  return
      [=, mean = values_of(mean_, head), log_scale = values_of(log_scale_, head)](const double* w) {
        std::vector<double> s(mean.size());
        double log_volume = 0;
        for (std::size_t j = 0; j < s.size(); ++j) {
          s[j] = (w[j] - mean[j]) * std::exp(-log_scale[j]);
          log_volume += log_scale[j];
        }
        return standard(s.data()) - log_volume;
      };
}

GaussianAxes LocationScaleDensity::axes(std::size_t head) const {
  return {values_of(mean_, head), values_of(log_scale_, head)};
}

Var LocationScaleDensity::log_densities(Tape& tape, const Var& points) {
  const Var log_scale = tape(log_scale_);
  const Var s = (points - tape(mean_)) * exp(-log_scale);
  const Var logs = standard_log_densities(tape, s) - sum(log_scale, -1, keep);
  return reshape(logs, {points.dim(0), points.dim(1)});
}

std::optional<double> LocationScaleDensity::entropy(std::size_t head) {
  std::optional<double> entropy = standard_entropy(head);
  if (!entropy) return {};
  for (double log_scale : values_of(log_scale_, head)) *entropy += log_scale;
  return entropy;
}

}  // namespace bochner::inline BOCHNER_PRECISION
