#pragma once
/// Special functions in double. Only this file's source includes Boost.

#include <array>

namespace bochner::special {

double digamma(double x);
/// Returns x with P(a, x) = p, P the regularised lower incomplete gamma function.
double inverse_gamma_p(double a, double p);
/// Bessel functions of real order; infinite or 0 beyond the range of double.
double bessel_j(double order, double x);
double bessel_i(double order, double x);
double bessel_k(double order, double x);

/// Node of a quadrature rule in [-1, 1] and its weight.
struct QuadratureNode {
  double at, weight;
};
/// Returns the Gauss-Legendre rule that is exact for polynomials up to degree 19.
std::array<QuadratureNode, 10> gauss_legendre();

}  // namespace bochner::special

/// Quantile functions. Probabilities are passed as normal scores z, u = Phi(z), so that both tails
/// keep their digits, even in float.
namespace bochner::quantile {

/// Returns Phi^-1(u), finite for every double 0 < u < 1.
double normal(double u);
/// Returns the quantile of Student's t, degrees > 0; infinite degrees mean the normal distribution.
double student(double degrees, double u);
/// Returns the normal score of x >= 0 under Gamma(shape, 1), finite: Phi(score) = P(shape, x).
double gamma_score(double shape, double x);
/// Returns ln x with P(shape, x) = Phi(score), P as in inverse_gamma_p(). Finite if x underflows.
double log_gamma(double shape, double score);
/// Returns the derivative of log_gamma by the shape, given its value.
double log_gamma_slope(double shape, double score, double log_quantile);

}  // namespace bochner::quantile
