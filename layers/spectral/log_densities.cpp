#include <bochner/autodiff/compute/special_functions.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/layers/spectral/log_densities.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// y = f(x) of each element in double, with the derivative f'(x).
template <class Function, class Slope>
Var by_element(const char* name, const Var& x, const Function& f, const Slope& slope) {
  Tensor y = uninitialized(x.shape());
  for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] = real(f(double(x.data()[i])));
  return record(name, std::move(y), {x}, [x, slope](Tensor& gradient) {
    for (std::size_t i = 0; i < gradient.size(); ++i)
      gradient.data()[i] *= real(slope(double(x.data()[i])));
    x.add_gradient(gradient);
  });
}

}  // namespace

Var log_normal_densities(const Var& x) {
  return sum(square(x), -1, keep) * -0.5 + log_normal_density(x.dim(-1), 0);
}

Var squared_radii(const Var& s) {
  return maximum(sum(square(s), -1, keep), Var(filled({}, real(smallest_square))));
}

Var log_gamma_function(const Var& x) {
  return by_element(
      "log_gamma_function", x, [](double a) { return std::lgamma(a); }, special::digamma);
}

Var log_bessel_k_function(double order, const Var& x) {
  const auto slope = [order](double t) {  // K_v' = -K_(v-1) - v K_v / t
    return -std::exp(log_bessel_k(std::abs(order - 1), t) - log_bessel_k(order, t)) - order / t;
  };
  return by_element(
      "log_bessel_k_function", x, [order](double t) { return log_bessel_k(order, t); }, slope);
}

}  // namespace bochner::inline BOCHNER_PRECISION
