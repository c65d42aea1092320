#pragma once
/// Bessel functions in the forms that kernels need, where the plain ones overflow or vanish.

namespace bochner {

/// ln K_order(x), the modified Bessel function of the second kind, order >= 0, x > 0; infinite
/// where K is beyond double and order <= 50.
double log_bessel_k(double order, double x);
/// E exp(i t u_1) for u uniform on the unit sphere of R^d: Gamma(d/2) (2/t)^(d/2-1) J_{d/2-1}(t).
double sphere_characteristic(double d, double t);

}  // namespace bochner
