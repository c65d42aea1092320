#include <bochner/autodiff/compute/special_functions.hpp>
#include <bochner/layers/spectral/closed_forms.hpp>

namespace bochner {
namespace {

/// Debye's expansion for large orders, three terms: relative error below 1e-6 from order 50 on.
double log_bessel_k_of_large_order(double order, double x) {
  const double z = x / order, root = std::sqrt(1 + z * z), p = 1 / root, q = p * p;
  const double eta = root + std::log(z / (1 + root));
  const double first = p * (3 - 5 * q) / 24, second = q * (81 - 462 * q + 385 * q * q) / 1152;
  return std::log(std::numbers::pi / (2 * order) * p) / 2 - order * eta +
         std::log(1 - first / order + second / (order * order));
}

}  // namespace

double log_bessel_k(double order, double x) {
  if (order > 50) return log_bessel_k_of_large_order(order, x);
  if (x > 600) {
    const double bend = (4 * order * order - 1) / (8 * x);
    return std::log(std::numbers::pi / (2 * x)) / 2 - x + std::log1p(bend);
  }
  return std::log(special::bessel_k(order, x));
}

double matern(double order, double x) {
  if (x == 0) return 1;
  const double log_k = log_bessel_k(order, x);
  if (std::isinf(log_k)) return 1;  // x is far below the order
  return std::exp((1 - order) * std::numbers::ln2 - std::lgamma(order) + order * std::log(x) +
                  log_k);
}

double sphere_characteristic(double d, double t) {
  const double c = d / 2, square = t * t / 4;
  if (square > c) {
    return std::exp(std::lgamma(c) + (1 - c) * std::log(t / 2)) * special::bessel_j(c - 1, t);
  }
  double term = 1, sum = 1;
  for (double k = 0; std::abs(term) > 1e-17; ++k) {
    term *= -square / ((k + 1) * (c + k));
    sum += term;
  }
  return sum;
}

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
