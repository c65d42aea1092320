#pragma once
/// Helpers of the closed forms of densities.

#include <bochner/autodiff/compute/math.hpp>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

template <class Number>
double squared_length(const Number* x, std::size_t d) {
  double sum = 0;
  for (std::size_t j = 0; j < d; ++j) sum += double(x[j]) * double(x[j]);
  return sum;
}

/// Lower bound of squared distances from the centre, where densities may be infinite.
inline constexpr double min_square = 1e-37;

/// N(mean, diag(exp(2 log_scale))); (d) each.
struct GaussianAxes {
  std::vector<double> mean, log_scale;
};

/// Returns ln of the density of N(0, I_d) at a squared distance from the centre.
inline double log_normal_density(std::size_t d, double squared_radius) {
  return -(squared_radius + double(d) * log_two_pi) / 2;
}

inline double normal_entropy(std::size_t d) { return double(d) * (1 + log_two_pi) / 2; }

/// Returns ln of the area of the unit sphere of R^d; 2 points for d = 1.
inline double log_sphere_area(std::size_t d) {
  const double half = double(d) / 2;
  return std::numbers::ln2 + half * std::log(std::numbers::pi) - std::lgamma(half);
}

// Bessel functions in forms that neither overflow nor underflow.

/// Returns ln K_order(x), the modified Bessel function of the second kind, order >= 0, x > 0.
double log_bessel_k(double order, double x);
/// Returns the Matern kernel of an order at x = sqrt(2 order) distance; 1 at 0.
double matern(double order, double x);
/// Returns E exp(i t u_1), u uniform on R^d's sphere: Gamma(d/2) (2/t)^(d/2-1) J_{d/2-1}(t).
double sphere_characteristic(double d, double t);

// Quadrature over noise by the midpoint rule on its normal score.

struct WeightedPoint {
  double value, weight;
};

/// Returns points and weights of N(0, 1); the weights sum to 1.
std::vector<WeightedPoint> normal_quadrature();
/// Returns points and weights of chi_d, the length of a standard normal vector.
std::vector<WeightedPoint> chi_quadrature(std::size_t d);

}  // namespace bochner::inline BOCHNER_PRECISION
