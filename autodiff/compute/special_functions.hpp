#pragma once
/// Functions of mathematics that the standard library lacks: the one door to Boost's.

namespace bochner::special {

double digamma(double x);
/// The x with erfc(x) = y, 0 < y < 2.
double inverse_erfc(double y);

/// P(a, x) = gamma(a, x) / Gamma(a) and Q = 1 - P, a > 0, x >= 0.
double gamma_p(double a, double x);
double gamma_q(double a, double x);
/// The x of these values, and dP/dx.
double inverse_gamma_p(double a, double p);
double inverse_gamma_q(double a, double q);
double gamma_p_slope(double a, double x);

/// Of real order; beyond double they are infinite or 0.
double bessel_j(double order, double x);
double bessel_k(double order, double x);

}  // namespace bochner::special
