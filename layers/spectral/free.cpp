#include <bochner/layers/spectral/densities.hpp>

namespace bochner::inline BOCHNER_PRECISION {

FreeDensity::FreeDensity(const DensitySpec& spec)
    : SpectralDensity(spec), frequencies_({spec.heads, spec.m, spec.dim}) {
  set_log_scale(std::vector<double>(spec.dim, spec.log_scale));
}

void FreeDensity::set_log_scale(const std::vector<double>& log_scale) {
  for (std::size_t i = 0; i < noise().size(); ++i) {
    frequencies_.value().data()[i] =
        real(std::exp(log_scale[i % log_scale.size()]) * double(noise().data()[i]));
  }
}

Var FreeDensity::sample(Tape& tape, const Var&) { return tape(frequencies_); }

void FreeDensity::visit(Visitor& visitor) {
  visitor("frequencies", frequencies_);
  SpectralDensity::visit(visitor);
}

PointFunction FreeDensity::kernel(std::size_t head) {
  const std::size_t m = frequencies_.shape()[1], d = frequencies_.shape()[2];
  const real* first = frequencies_.value().data() + head * m * d;
  return [m, d, w = std::vector<double>(first, first + m * d)](const double* lag) {
    double sum = 0;
    for (std::size_t i = 0; i < m; ++i) {
      double phase = 0;
      for (std::size_t j = 0; j < d; ++j) phase += w[i * d + j] * lag[j];
      sum += std::cos(phase) / double(m);
    }
    return sum;
  };
}

}  // namespace bochner::inline BOCHNER_PRECISION
