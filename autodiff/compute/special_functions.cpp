#include <bochner/autodiff/compute/special_functions.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>

namespace bochner::special {
namespace {

using Quiet = boost::math::policies::policy<
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::underflow_error<boost::math::policies::ignore_error>>;

}  // namespace

double digamma(double x) { return boost::math::digamma(x); }
double inverse_erfc(double y) { return boost::math::erfc_inv(y); }

double gamma_p(double a, double x) { return boost::math::gamma_p(a, x); }
double gamma_q(double a, double x) { return boost::math::gamma_q(a, x); }
double inverse_gamma_p(double a, double p) { return boost::math::gamma_p_inv(a, p); }
double inverse_gamma_q(double a, double q) { return boost::math::gamma_q_inv(a, q); }
double gamma_p_slope(double a, double x) { return boost::math::gamma_p_derivative(a, x); }

double bessel_j(double order, double x) { return boost::math::cyl_bessel_j(order, x, Quiet()); }
double bessel_k(double order, double x) { return boost::math::cyl_bessel_k(order, x, Quiet()); }

}  // namespace bochner::special
