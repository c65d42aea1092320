#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/spectral/bessel.hpp>
#include <bochner/layers/spectral/densities.hpp>
#include <bochner/layers/spectral/point.hpp>
#include <bochner/layers/spectral/quadrature.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// |z| of each row. (H, m, d) -> (H, m, 1)
Tensor lengths(const Tensor& z) {
  const std::size_t d = z.shape()[2];
  Tensor length = uninitialized({z.shape()[0], z.shape()[1], 1});
  for (std::size_t i = 0; i < length.size(); ++i) {
    double square = 0;
    for (std::size_t j = 0; j < d; ++j) square += std::pow(double(z.data()[i * d + j]), 2);
    length.data()[i] = real(std::sqrt(square));
  }
  return length;
}

}  // namespace

Var IsotropicDensity::standardized(Tape& tape, const Var& noise) {
  const Tensor length = lengths(noise.value());
  return noise / tape.constant(length) * radius(tape, length);
}

LocationScaleDensity::Characteristic IsotropicDensity::standard_characteristic(std::size_t head) {
  std::vector<WeightedPoint> radii = chi_quadrature(dim());
  const auto radius = radius_of(head);
  for (WeightedPoint& r : radii) r.value = radius(r.value);
  return [d = dim(), radii = std::move(radii)](const double* t) {
    const double length = std::sqrt(squared_length(t, d));
    double sum = 0;
    for (const WeightedPoint& r : radii)
      sum += r.weight * sphere_characteristic(double(d), r.value * length);
    return sum;
  };
}

PointFunction IsotropicDensity::standard_log_density(std::size_t head) {
  return [d = dim(), log_radius = log_radius_density(head)](const double* s) {
    const double r = std::sqrt(squared_length(s, d));
    return log_radius(r) - log_sphere_area(d) - (double(d) - 1) * std::log(r);
  };
}

}  // namespace bochner::inline BOCHNER_PRECISION
