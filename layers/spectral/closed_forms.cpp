#include <bochner/base/numeric/special_functions.hpp>
#include <bochner/layers/spectral/closed_forms.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr double large_order = 50;

/// Returns ln of Debye's sum over powers of 1 / root: root^2 = order^2 + x^2, q = order^2 / root^2.
/// Error below 1e-10 for root >= 50. DLMF 10.41.10. -root gives the sum of I, and of J at i x.
double log_debye_sum(double root, double q) {
  const double first = (3 - 5 * q) / 24, second = (81 + q * (-462 + q * 385)) / 1152,
               third = (30375 + q * (-369603 + q * (765765 - q * 425425))) / 414720,
               fourth = (4465125 +
                         q * (-94121676 + q * (349922430 + q * (-446185740 + q * 185910725)))) /
                        39813120;
  return std::log1p((-first + (second + (-third + fourth / root) / root) / root) / root);
}

double log_bessel_k_large_order(double order, double x) {
  const double root = std::hypot(order, x);
  const double eta = root + order * std::log(x / (order + root));
  return std::log(std::numbers::pi / (2 * root)) / 2 - eta +
         log_debye_sum(root, order * order / (root * root));
}

/// First term Gamma(order) (2 / x)^order / 2; the others are below rounding where K overflows.
double log_bessel_k_small_x(double order, double x) {
  return std::lgamma(order) + (order - 1) * std::numbers::ln2 - order * std::log(x);
}

/// Pairs the large terms with those of the gamma function, which they cancel.
double matern_large_order(double order, double x) {
  const double square = x / order * (x / order), root = std::sqrt(1 + square),
               more = square / (1 + root);  // root - 1
  return std::exp(order * (std::log1p(more / 2) - more) - std::log(root) / 2 +
                  log_debye_sum(order * root, 1 / (1 + square)) - log_debye_sum(order, 1));
}

/// Debye's form for J below 0.9 of its order; beyond, the function is negligible. DLMF 10.19.3.
double sphere_characteristic_large_order(double order, double t) {
  const double root = std::sqrt((order - t) * (order + t)), less = t * t / (order + root);
  const double q = order / root * (order / root);
  return std::exp(-less - order * std::log1p(-less / (2 * order)) + std::log(q) / 4 +
                  log_debye_sum(-root, q) - log_debye_sum(-order, 1));
}

}  // namespace

double log_bessel_k(double order, double x) {
  if (order > large_order || x > 600) return log_bessel_k_large_order(order, x);
  const double k = special::bessel_k(order, x);
  return std::isfinite(k) ? std::log(k) : log_bessel_k_small_x(order, x);
}

double matern(double order, double x) {
  if (x == 0) return 1;
  if (order > large_order) return matern_large_order(order, x);
  return std::exp((1 - order) * std::numbers::ln2 - std::lgamma(order) + order * std::log(x) +
                  log_bessel_k(order, x));
}

double sphere_characteristic(double d, double t) {
  constexpr double large = 150;  // beyond, factors overflow double
  const double c = d / 2, square = t * t / 4;
  if (c > large && t < 0.9 * (c - 1)) return sphere_characteristic_large_order(c - 1, t);
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

}  // namespace bochner::inline BOCHNER_PRECISION
