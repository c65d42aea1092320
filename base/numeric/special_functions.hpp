#pragma once
/// Functions of mathematics that the standard library lacks, in double: the one door to Boost's.

#include <array>

namespace bochner::special {

double digamma(double x);
/// The x with P(a, x) = p, the regularised incomplete gamma function.
double inverse_gamma_p(double a, double p);
/// Of real order; beyond double they are infinite or 0.
double bessel_j(double order, double x);
double bessel_i(double order, double x);
double bessel_k(double order, double x);

/// Where a function is looked at, in [-1, 1], and with which weight.
struct QuadratureNode {
  double at, weight;
};
/// Gauss and Legendre's rule: exact for polynomials up to degree 19.
std::array<QuadratureNode, 10> gauss_legendre();

}  // namespace bochner::special

/// Quantiles of the normal and the gamma distribution. A probability travels as a normal score z,
/// u = Phi(z): both tails keep their digits, even in float.
namespace bochner::quantile {

/// Phi^-1(u), finite for every double 0 < u < 1.
double normal(double u);
/// Of Student's t with so many degrees of freedom, above 0; infinite for the normal distribution.
double student(double degrees, double u);
/// The normal score of x >= 0 under Gamma(shape, 1), finite: Phi(score) = P(shape, x).
double gamma_score(double shape, double x);
/// ln of the x with P(shape, x) = Phi(score), the regularised incomplete gamma function. Finite
/// where x itself underflows.
double log_gamma(double shape, double score);
/// Its derivative by the shape, given the value.
double log_gamma_slope(double shape, double score, double log_quantile);

}  // namespace bochner::quantile
