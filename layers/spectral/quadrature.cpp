#include <bochner/autodiff/compute/special_functions.hpp>
#include <bochner/layers/spectral/quadrature.hpp>
#include <cmath>

namespace bochner {

std::vector<WeightedPoint> normal_quadrature() {
  constexpr std::size_t cells = 600;
  constexpr double reach = 8.5, width = 2 * reach / double(cells);
  std::vector<WeightedPoint> points;
  double total = 0;
  for (std::size_t i = 0; i < cells; ++i) {
    const double z = -reach + (double(i) + 0.5) * width;
    points.push_back({z, std::exp(-z * z / 2)});
    total += points.back().weight;
  }
  for (WeightedPoint& point : points) point.weight /= total;
  return points;
}

std::vector<WeightedPoint> chi_quadrature(std::size_t d) {
  std::vector<WeightedPoint> points = normal_quadrature();
  for (WeightedPoint& point : points)
    point.value = std::sqrt(2 * std::exp(quantile::log_gamma(double(d) / 2, point.value)));
  return points;
}

}  // namespace bochner
