#pragma once
/// Quantiles of the normal and the gamma distribution, in double. A probability travels as a normal
/// score z, u = Phi(z): both tails keep their digits, even in float.

namespace bochner::quantile {

/// Phi^-1(u), finite for every double 0 < u < 1.
double normal(double u);
/// The normal score of x >= 0 under Gamma(shape, 1), finite: Phi(score) = P(shape, x).
double gamma_score(double shape, double x);
/// ln of the x with P(shape, x) = Phi(score), the regularised incomplete gamma function. Finite
/// where x itself underflows.
double log_gamma(double shape, double score);
/// Its derivative by the shape, given the value.
double log_gamma_slope(double shape, double score, double log_quantile);

}  // namespace bochner::quantile
