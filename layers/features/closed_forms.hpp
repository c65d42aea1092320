#pragma once
/// Closed forms of estimators of SM(x, y) = exp(x . y), for one draw w ~ N(0, I).

#include <span>
#include <vector>

namespace bochner {

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

/// A < 1/8 of least variance for features (1 - 4A)^(d/4) exp(A |w|^2 + sqrt(1 - 4A) w . x -
/// |x|^2/2) in d dimensions, `phi` being E |x + y|^2. Likhosherstov et al., "FAVOR++", 2022.
double optimal_exponent(double d, double phi);
/// The same as ln rho, A = (1 - 1/rho) / 8.
double optimal_log_rho(double d, double phi);
/// E f(w, x)^2 f(w, y)^2 of these features for one coordinate (x, y) and 1 - 8A = r.
double optimal_second_moment(double x, double y, double r);

}  // namespace bochner
