#include <bochner/layers/spectral/densities.hpp>
#include <bochner/layers/spectral/point.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Var GaussianDensity::standardized(Tape&, const Var& noise) { return noise; }

LocationScaleDensity::Characteristic GaussianDensity::standard_characteristic(std::size_t) {
  return [d = dim()](const double* t) { return std::exp(-squared_length(t, d) / 2); };
}

PointFunction GaussianDensity::standard_log_density(std::size_t) {
  return [d = dim()](const double* s) { return log_normal_density(d, squared_length(s, d)); };
}

std::optional<double> GaussianDensity::standard_entropy(std::size_t) {
  return normal_entropy(dim());
}

}  // namespace bochner::inline BOCHNER_PRECISION
