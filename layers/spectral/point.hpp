#pragma once
/// What the closed forms of densities share.

#include <cmath>
#include <cstddef>
#include <numbers>

namespace bochner {

inline double squared_length(const double* x, std::size_t d) {
  double sum = 0;
  for (std::size_t j = 0; j < d; ++j) sum += x[j] * x[j];
  return sum;
}

/// ln of the density of N(0, I_d) at distance r of the centre, given r^2.
inline double log_normal_density(std::size_t d, double squared_radius) {
  return -(squared_radius + double(d) * std::log(2 * std::numbers::pi)) / 2;
}

/// Entropy of N(0, I_d).
inline double normal_entropy(std::size_t d) {
  return double(d) * (1 + std::log(2 * std::numbers::pi)) / 2;
}

/// ln of the area of the unit sphere of R^d; 2 points for d = 1.
inline double log_sphere_area(std::size_t d) {
  const double half = double(d) / 2;
  return std::numbers::ln2 + half * std::log(std::numbers::pi) - std::lgamma(half);
}

}  // namespace bochner
