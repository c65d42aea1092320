#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/layers/spectral/log_densities.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Computes y = f(x) per element in double, with the derivative f'(x).
template <class Function, class Slope>
Var elementwise(const char* name, const Var& x, const Function& f, const Slope& slope) {
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
  return maximum(sum(square(s), -1, keep), Var(filled({}, real(min_square))));
}

Var by_shape(const char* name, const Var& x, const Var& shape,
             const std::function<ShapedFunction(double shape)>& f) {
  const std::size_t H = shape.size(), n = x.size() / H;
  Tensor y = uninitialized(x.shape());
  for (std::size_t i = 0; i < y.size(); i += n)
    std::transform(x.data() + i, x.data() + i + n, y.data() + i,
                   [of = f(double(shape.data()[i / n]))](real u) { return real(of(u).value); });
  return record(name, std::move(y), {x, shape}, [=](Tensor& gradient) {
    Tensor by_shape_gradient = zeros(shape.shape());
    for (std::size_t h = 0; h < H; ++h) {
      const ShapedFunction of = f(double(shape.data()[h]));
      double sum = 0;
      for (std::size_t i = h * n; i < (h + 1) * n; ++i) {
        const ShapedValue at = of(double(x.data()[i]));
        sum += double(gradient.data()[i]) * at.by_shape;
        gradient.data()[i] = real(double(gradient.data()[i]) * at.by_x);
      }
      by_shape_gradient.data()[h] = real(sum);
    }
    if (x.needs_gradient()) x.add_gradient(std::move(gradient));
    if (shape.needs_gradient()) shape.add_gradient(std::move(by_shape_gradient));
  });
}

Var log_bessel_k_function(double order, const Var& x) {
  const auto slope = [order](double t) {  // K_v' = -K_(v-1) - v K_v / t
    return -std::exp(log_bessel_k(std::abs(order - 1), t) - log_bessel_k(order, t)) - order / t;
  };
  return elementwise(
      "log_bessel_k_function", x, [order](double t) { return log_bessel_k(order, t); }, slope);
}

}  // namespace bochner::inline BOCHNER_PRECISION
