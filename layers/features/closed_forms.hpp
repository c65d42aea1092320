#pragma once
/// Closed forms of estimators of SM(x, y) = exp(x . y), for one draw w ~ N(0, I).

#include <bochner/autodiff/real.hpp>
#include <bochner/layers/spectral/closed_forms.hpp>
#include <complex>
#include <functional>
#include <span>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// A query and a key, each divided by d^(1/4), as softmax estimators see them.
struct ScaledPair {
  std::vector<double> x, y;
  double xx = 0, yy = 0, xy = 0;
  ScaledPair(std::span<const double> q, std::span<const double> k);
  double sum() const { return xx + yy + 2 * xy; }                  ///< |x + y|^2
  double difference() const { return xx + yy - 2 * xy; }           ///< |x - y|^2
  double softmax() const { return std::exp(xy); }                  ///< exp(x . y)
  double gaussian() const { return std::exp(-difference() / 2); }  ///< exp(-|x - y|^2 / 2)
};

/// Variance of exp(|x|^2/2 + |y|^2/2) cos(w . (x - y)).
double trigonometric_variance(const ScaledPair& pair);
/// Variance of exp(w . (x + y) - |x|^2/2 - |y|^2/2). Choromanski et al., "Performers", 2021.
double positive_variance(const ScaledPair& pair);
/// Variance of exp(-|x|^2/2 - |y|^2/2) cosh(w . (x + y)).
double hyperbolic_variance(const ScaledPair& pair);
/// Covariance of the hyperbolic or positive estimate with the trigonometric one of the same w.
double covariance_with_trigonometric(const ScaledPair& pair);

/// Variance of cos(w . (x - y)).
double fourier_variance(const ScaledPair& pair);

/// E g(w) exp(c w . z) of a weighted draw, for real or imaginary c.
using WeightedMoment = std::function<double(std::complex<double> c, const std::vector<double>& z)>;
/// g(w) = 1, w ~ N(0, I).
double normal_moment(std::complex<double> c, const std::vector<double>& z);
/// g(w) = p(w) / q(w), w ~ p, for second moments of importance sampling from q. Infinite if q is
/// too narrow: variance at most half of p's.
WeightedMoment importance_moment(const GaussianAxes& p, const GaussianAxes& q);

// Second moments of these estimates by one weighted draw.
double positive_second_moment(const ScaledPair& pair, const WeightedMoment& moment);
double hyperbolic_second_moment(const ScaledPair& pair, const WeightedMoment& moment);
double trigonometric_second_moment(const ScaledPair& pair, const WeightedMoment& moment);
double fourier_second_moment(const ScaledPair& pair, const WeightedMoment& moment);
/// Second moment of exp(w . (x + y) - |x|^2 - |y|^2).
double pff_second_moment(const ScaledPair& pair, const WeightedMoment& moment);

/// Mean and variance of (cos w . x + cos v . x) (cos w . y + cos v . y) / 4 plus the same with
/// sines, w and v ~ N(0, I) with correlation rho.
double nonstationary_kernel(const ScaledPair& pair, double rho);
double nonstationary_variance(const ScaledPair& pair, double rho);

/// Returns A < 1/8 of least variance for features (1 - 4A)^(d/4) exp(A |w|^2 + sqrt(1 - 4A) w . x -
/// |x|^2/2) in d dimensions, with phi = E |x + y|^2. Likhosherstov et al., "FAVOR++", 2022.
double optimal_exponent(double d, double phi);
/// Returns optimal_exponent() as ln rho, A = (1 - 1/rho) / 8.
double optimal_log_rho(double d, double phi);
/// Returns E f(w, x)^2 f(w, y)^2 of those features for one coordinate (x, y) and r = 1 - 8A.
double optimal_second_moment(double x, double y, double r);

}  // namespace bochner::inline BOCHNER_PRECISION
