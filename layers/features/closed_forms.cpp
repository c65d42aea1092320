#include <bochner/layers/features/closed_forms.hpp>
#include <cmath>

namespace bochner {

ScaledPair::ScaledPair(std::span<const double> q, std::span<const double> k)
    : x(q.begin(), q.end()), y(k.begin(), k.end()) {
  const double scale = std::pow(double(q.size()), -0.25);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] *= scale, y[i] *= scale;
    xx += x[i] * x[i], yy += y[i] * y[i], xy += x[i] * y[i];
  }
}

double ScaledPair::softmax() const { return std::exp(xy); }
double ScaledPair::gaussian() const { return std::exp(-difference() / 2); }

double trigonometric_variance(const ScaledPair& pair) {
  return std::exp(pair.xx + pair.yy) * std::pow(-std::expm1(-pair.difference()), 2) / 2;
}

double positive_variance(const ScaledPair& pair) {
  return std::exp(2 * pair.xy) * std::expm1(pair.sum());
}

double hyperbolic_variance(const ScaledPair& pair) {
  return std::exp(2 * pair.xy + pair.sum()) * std::pow(-std::expm1(-pair.sum()), 2) / 2;
}

double covariance_with_trigonometric(const ScaledPair& pair) {
  return -std::exp(2 * pair.xy) * (1 - std::cos(pair.xx - pair.yy));
}

double optimal_exponent(double d, double phi) {
  return (d - 2 * phi - std::sqrt(std::pow(2 * phi + d, 2) + 8 * d * phi)) / (16 * d);
}

double optimal_log_rho(double d, double phi) { return -std::log1p(-8 * optimal_exponent(d, phi)); }

double optimal_second_moment(double x, double y, double r) {
  const double g = (1 + r) / 2;  // 1 - 4A
  return std::exp(2 * g * std::pow(x + y, 2) / r - x * x - y * y) * g / std::sqrt(r);
}

}  // namespace bochner
