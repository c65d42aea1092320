#pragma once
/// Closed forms of estimators of SM(x, y) = exp(x . y), for one draw w ~ N(0, I).

#include <bochner/autodiff/real.hpp>
#include <bochner/layers/spectral/closed_forms.hpp>
#include <complex>
#include <functional>
#include <span>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Two vectors, each divided by d^(1/4): what softmax-like estimators see of a query and a key.
struct ScaledPair {
  std::vector<double> x, y;
  double xx = 0, yy = 0, xy = 0;
  ScaledPair(std::span<const double> q, std::span<const double> k);
  double sum() const { return xx + yy + 2 * xy; }         ///< |x + y|^2
  double difference() const { return xx + yy - 2 * xy; }  ///< |x - y|^2
  double softmax() const;                                 ///< exp(x . y)
  double gaussian() const;                                ///< exp(-|x - y|^2 / 2)
};

/// exp(|x|^2/2 + |y|^2/2) cos(w . (x - y)).
double trigonometric_variance(const ScaledPair& pair);
/// exp(w . (x + y) - |x|^2/2 - |y|^2/2). Choromanski et al., "Performers", 2021.
double positive_variance(const ScaledPair& pair);
/// exp(-|x|^2/2 - |y|^2/2) cosh(w . (x + y)).
double hyperbolic_variance(const ScaledPair& pair);
/// Of the hyperbolic or the positive with the trigonometric estimate by the same w.
double covariance_with_trigonometric(const ScaledPair& pair);

/// cos(w . (x - y)).
double fourier_variance(const ScaledPair& pair);

/// E g(w) exp(c w . z) of a weighted draw as a function of c, real or imaginary, and z.
using WeightedMoment = std::function<double(std::complex<double> c, const std::vector<double>& z)>;
/// g(w) = 1, w ~ N(0, I).
double normal_moment(std::complex<double> c, const std::vector<double>& z);
/// g(w) = p(w) / q(w), w ~ p: of the squares of importance sampling from q. Infinite where q is too
/// narrow, its variance at most half of p's.
WeightedMoment importance_moment(const GaussianAxes& p, const GaussianAxes& q);

// E of the squares of these estimates by one weighted draw.
double positive_second_moment(const ScaledPair& pair, const WeightedMoment& moment);
double hyperbolic_second_moment(const ScaledPair& pair, const WeightedMoment& moment);
double trigonometric_second_moment(const ScaledPair& pair, const WeightedMoment& moment);
double fourier_second_moment(const ScaledPair& pair, const WeightedMoment& moment);
/// Of exp(w . (x + y) - |x|^2 - |y|^2).
double pff_second_moment(const ScaledPair& pair, const WeightedMoment& moment);

/// Of (cos w . x + cos v . x) (cos w . y + cos v . y) / 4 and the same with sines, w and v ~ N(0,
/// I) of correlation rho: mean and variance.
double nonstationary_kernel(const ScaledPair& pair, double rho);
double nonstationary_variance(const ScaledPair& pair, double rho);

/// A < 1/8 of least variance for features (1 - 4A)^(d/4) exp(A |w|^2 + sqrt(1 - 4A) w . x -
/// |x|^2/2) in d dimensions, `phi` being E |x + y|^2. Likhosherstov et al., "FAVOR++", 2022.
double optimal_exponent(double d, double phi);
/// The same as ln rho, A = (1 - 1/rho) / 8.
double optimal_log_rho(double d, double phi);
/// E f(w, x)^2 f(w, y)^2 of these features for one coordinate (x, y) and 1 - 8A = r.
double optimal_second_moment(double x, double y, double r);

}  // namespace bochner::inline BOCHNER_PRECISION
