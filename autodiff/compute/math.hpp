#pragma once
/// Vectorisable inline exp, log, sin, cos, tanh, erf and relatives; scalar and vector code give
/// equal bits. Float versions and error bounds: math_float.hpp. gelu keeps its relative accuracy in
/// the left tail, where 1 + erf cancels.

#include <bochner/autodiff/real.hpp>
#include <numbers>

#ifndef BOCHNER_DOUBLE
#include <bochner/autodiff/compute/math_float.hpp>
#else
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace math {

inline double exp(double x) { return std::exp(x); }
/// Returns 2^x for x <= 1.
inline double exp2_nonpositive(double x) { return std::exp2(x); }
inline double log(double x) { return std::log(x); }
inline double sin(double x) { return std::sin(x); }
inline double cos(double x) { return std::cos(x); }
inline void sincos(double x, double* sine, double* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}
inline double tanh(double x) { return std::tanh(x); }
inline double erf(double x) { return std::erf(x); }
/// Returns 1 / (1 + e^-x).
inline double sigmoid(double x) {
  const double e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}
/// Returns ln(1 + e^x).
inline double softplus(double x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x))); }
/// Computes x Phi(x) and its slope; Phi is the normal distribution function.
inline void gelu(double x, double* value, double* slope) {
  const double u = x < -40 ? -40 : x > 40 ? 40 : x;  // infinity times 0 is NaN
  const double cdf = std::erfc(-u / std::numbers::sqrt2) / 2;
  const double density = std::exp(-u * u / 2) / std::sqrt(2 * std::numbers::pi);
  *value = (x > 0 ? x : u) * cdf;
  *slope = cdf + u * density;
}
inline double gelu(double x) {
  double value, slope;
  gelu(x, &value, &slope);
  return value;
}
/// Returns Phi(x).
inline double normal_cdf(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

}  // namespace math
}  // namespace bochner::inline BOCHNER_PRECISION
#endif

namespace bochner::inline BOCHNER_PRECISION {

/// Converts natural exponents to those of exp2_nonpositive().
inline constexpr real log2_e = real(std::numbers::log2e);
/// ln 2 pi, for normal densities.
inline constexpr double log_two_pi = 1.8378770664093453;

}  // namespace bochner::inline BOCHNER_PRECISION
