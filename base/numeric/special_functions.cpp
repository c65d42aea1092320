#include <algorithm>
#include <bochner/base/numeric/special_functions.hpp>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numbers>

namespace bochner {
namespace {

namespace policies = boost::math::policies;
/// Boost's default, long double, takes six times as long to save relative errors of 1e-14.
using NotLonger = policies::promote_double<false>;
constexpr policies::policy<NotLonger> in_double;
constexpr policies::policy<NotLonger, policies::overflow_error<policies::ignore_error>,
                           policies::underflow_error<policies::ignore_error>>
    quiet;

constexpr double smallest = 1e-300;

double upper_tail(double score) { return std::erfc(score / std::numbers::sqrt2) / 2; }

/// Below this P(shape, x), the first term of the series is used, x^shape / Gamma(shape + 1).
constexpr double series_limit = 1e-12;

double log_of_small_quantile(double shape, double probability) {
  return (std::log(probability) + std::lgamma(shape + 1)) / shape;
}

}  // namespace

double special::digamma(double x) { return boost::math::digamma(x, in_double); }
double special::inverse_gamma_p(double a, double p) {
  return boost::math::gamma_p_inv(a, p, in_double);
}
double special::bessel_j(double order, double x) {
  return boost::math::cyl_bessel_j(order, x, quiet);
}
double special::bessel_i(double order, double x) {
  return boost::math::cyl_bessel_i(order, x, quiet);
}
double special::bessel_k(double order, double x) {
  return boost::math::cyl_bessel_k(order, x, quiet);
}

std::array<special::QuadratureNode, 10> special::gauss_legendre() {
  using Rule = boost::math::quadrature::gauss<double, 10>;
  std::array<QuadratureNode, 10> nodes{};
  for (std::size_t i = 0; i < 5; ++i) {
    nodes[i] = {-Rule::abscissa()[4 - i], Rule::weights()[4 - i]};
    nodes[5 + i] = {Rule::abscissa()[i], Rule::weights()[i]};
  }
  return nodes;
}

namespace quantile {

double normal(double u) {
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * std::max(u, smallest), in_double);
}

/// Uses P(|t| > q) = the incomplete beta function of degrees / (degrees + q^2).
double student(double degrees, double u) {
  if (degrees > 1e7) return normal(u);
  double above = 0;
  const double below =
      boost::math::ibeta_inv(degrees / 2, 0.5, 2 * std::min(u, 1 - u), &above, in_double);
  return std::copysign(std::sqrt(degrees * above / below), u - 0.5);
}

double gamma_score(double shape, double x) {
  const double below = boost::math::gamma_p(shape, x, in_double);
  if (below < 0.5) return normal(below);
  return -normal(boost::math::gamma_q(shape, x, in_double));
}

double log_gamma(double shape, double score) {
  const double above = std::max(upper_tail(score), smallest);
  const double below = std::max(upper_tail(-score), smallest);
  const double small = log_of_small_quantile(shape, below);
  // Exact here: the second term of the series is smaller than the first by a factor x.
  if (small < std::log(series_limit)) return small;
  return std::log(below < 0.5 ? boost::math::gamma_p_inv(shape, below, in_double)
                              : boost::math::gamma_q_inv(shape, above, in_double));
}

/// Returns -(dP/da) / (dP/d ln x) at fixed x, dP/da by fourth-order differences of the small tail.
double log_gamma_slope(double shape, double score, double log_quantile) {
  if (log_quantile < std::log(series_limit))
    return (boost::math::digamma(shape + 1, in_double) - log_quantile) / shape;
  const double x = std::exp(log_quantile), h = 1e-3 * std::min(shape, 1.0);
  const auto tail = [&](double a) {
    return score < 0 ? boost::math::gamma_p(a, x, in_double)
                     : -boost::math::gamma_q(a, x, in_double);
  };
  const double near = tail(shape + h) - tail(shape - h);
  const double far = tail(shape + 2 * h) - tail(shape - 2 * h);
  return -(8 * near - far) / (12 * h) / (x * boost::math::gamma_p_derivative(shape, x, in_double));
}

}  // namespace quantile
}  // namespace bochner
