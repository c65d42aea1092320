#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/ops/broadcast.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// y = f(x) with y' a function of x.
template <class Function, class Derivative>
Var unary(const char* op, const Var& x, const Function& f, const Derivative& derivative) {
  return record(op, map_each(f, x.value()), {x}, [x, derivative](Tensor& gradient) {
    update_each(
        gradient, [&](real g, real u) { return g * derivative(u); }, x.value());
    x.add_gradient(std::move(gradient));
  });
}

/// y = f(x) with y' a function of y: x need not be kept.
template <class Function, class Derivative>
Var unary_by_output(const char* op, const Var& x, const Function& f, const Derivative& derivative) {
  return record(op, map_each(f, x.value()), {x},
                [x = x.gradient_only(), derivative](const Tensor& y, Tensor& gradient) {
                  update_each(
                      gradient, [&](real g, real v) { return g * derivative(v); }, y);
                  x.add_gradient(std::move(gradient));
                });
}

/// y = f(x) with a constant y'.
template <class Function>
Var linear_unary(const char* op, const Var& x, const Function& f, real slope) {
  return record(op, map_each(f, x.value()), {x}, [x = x.gradient_only(), slope](Tensor& gradient) {
    if (slope != 1) update(gradient, [slope](real g) { return slope * g; });
    x.add_gradient(std::move(gradient));
  });
}

}  // namespace

Var scale(const Var& x, real factor) {
  return linear_unary(
      "scale", x, [factor](real u) { return factor * u; }, factor);
}

Var shift(const Var& x, real offset) {
  return linear_unary(
      "shift", x, [offset](real u) { return u + offset; }, 1);
}

Var neg(const Var& x) {
  return linear_unary(
      "neg", x, [](real u) { return -u; }, -1);
}

Var exp(const Var& x) {
  return unary_by_output(
      "exp", x, [](real u) { return math::exp(u); }, [](real y) { return y; });
}

Var log(const Var& x) {
  return unary(
      "log", x, [](real u) { return math::log(u); }, [](real u) { return 1 / u; });
}

Var sqrt(const Var& x) {
  return unary_by_output(
      "sqrt", x, [](real u) { return std::sqrt(u); }, [](real y) { return real(0.5) / y; });
}

Var rsqrt(const Var& x) {
  return unary_by_output(
      "rsqrt", x, [](real u) { return 1 / std::sqrt(u); },
      [](real y) { return real(-0.5) * y * y * y; });
}

Var square(const Var& x) {
  return unary(
      "square", x, [](real u) { return u * u; }, [](real u) { return 2 * u; });
}

Var sin(const Var& x) {
  return unary(
      "sin", x, [](real u) { return math::sin(u); }, [](real u) { return math::cos(u); });
}

Var cos(const Var& x) {
  return unary(
      "cos", x, [](real u) { return math::cos(u); }, [](real u) { return -math::sin(u); });
}

Var tanh(const Var& x) {
  return unary_by_output(
      "tanh", x, [](real u) { return math::tanh(u); }, [](real y) { return 1 - y * y; });
}

Var sigmoid(const Var& x) {
  return unary_by_output(
      "sigmoid", x, [](real u) { return math::sigmoid(u); }, [](real y) { return y * (1 - y); });
}

Var softplus(const Var& x) {
  return unary(
      "softplus", x, [](real u) { return math::softplus(u); },
      [](real u) { return math::sigmoid(u); });
}

Var relu(const Var& x) {
  // Written so that NaN stays NaN.
  return unary_by_output(
      "relu", x, [](real u) { return u < 0 ? real(0) : u; },
      [](real y) { return y > 0 ? real(1) : real(0); });
}

Var elu(const Var& x) {
  return unary_by_output(
      "elu", x, [](real u) { return u > 0 ? u : math::exp(u) - 1; },
      [](real y) { return y > 0 ? real(1) : y + 1; });
}

Var gelu(const Var& x) {
  return unary(
      "gelu", x, [](real u) { return u * math::normal_cdf(u); },
      [](real u) {
        real distribution, density;
        math::normal(u, &distribution, &density);
        return distribution + u * density;
      });
}

Var silu(const Var& x) {
  return unary(
      "silu", x, [](real u) { return u * math::sigmoid(u); },
      [](real u) {
        const real s = math::sigmoid(u);
        return s * (1 + u * (1 - s));
      });
}

Var erf(const Var& x) {
  constexpr real factor = real(2 * std::numbers::inv_sqrtpi);
  return unary(
      "erf", x, [](real u) { return math::erf(u); },
      [](real u) { return factor * math::exp(-u * u); });
}

Var abs(const Var& x) {
  return unary(
      "abs", x, [](real u) { return std::abs(u); },
      [](real u) { return real(u > 0) - real(u < 0); });
}

Var clamp(const Var& x, real low, real high) {
  require(low <= high, "clamp", "low ", low, " is above high ", high);
  return unary(
      "clamp", x, [=](real u) { return u < low ? low : (u > high ? high : u); },
      [=](real u) { return u >= low && u <= high ? real(1) : real(0); });
}

}  // namespace bochner::inline BOCHNER_PRECISION
