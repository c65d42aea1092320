#include <bochner/autodiff/ops/broadcast.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

template <class Function>
Tensor broadcast_map(const char* op, const Function& f, const Var& a, const Var& b) {
  return map(broadcast_shape(op, a.shape(), b.shape()), f, a.value(), b.value());
}

constexpr auto product = [](real x, real y) { return x * y; };
constexpr auto quotient = [](real x, real y) { return x / y; };

/// f(y, x..) of a copy.
template <class Function, class... Operands>
Tensor updated(Tensor y, const Function& f, const Operands&... x) {
  update(y, f, x...);
  return y;
}

/// The larger for sign 1, the smaller for sign -1; a where it is NaN.
Var extreme(const char* op, const Var& a, const Var& b, real sign) {
  const auto takes_a = [sign](real x, real y) { return sign * x >= sign * y || x != x; };
  const auto chosen = [takes_a](real x, real y) { return takes_a(x, y) ? x : y; };
  return record(op, broadcast_map(op, chosen, a, b), {a, b}, [a, b, takes_a](Tensor& gradient) {
    const auto part = [&](bool of_a) {
      const auto term = [&](real g, real x, real y) { return takes_a(x, y) == of_a ? g : real(0); };
      return updated(gradient, term, a.value(), b.value());
    };
    if (a.needs_gradient()) a.add_gradient(part(true));
    if (b.needs_gradient()) b.add_gradient(part(false));
  });
}

/// d(u^p)/du.
real power_slope(real u, real p) { return p == 0 ? real(0) : p * std::pow(u, p - 1); }

}  // namespace

Var add(const Var& a, const Var& b) {
  const auto sum = [](real x, real y) { return x + y; };
  return record("add", broadcast_map("add", sum, a, b), {a, b},
                [a = a.gradient_only(), b = b.gradient_only()](Tensor& gradient) {
                  b.add_gradient(gradient);
                  a.add_gradient(std::move(gradient));
                });
}

Var sub(const Var& a, const Var& b) {
  const auto difference = [](real x, real y) { return x - y; };
  return record("sub", broadcast_map("sub", difference, a, b), {a, b},
                [a = a.gradient_only(), b = b.gradient_only()](Tensor& gradient) {
                  a.add_gradient(gradient);
                  if (!b.needs_gradient()) return;
                  update(gradient, [](real g) { return -g; });
                  b.add_gradient(std::move(gradient));
                });
}

Var mul(const Var& a, const Var& b) {
  const Var kept_a = b.needs_gradient() ? a : a.gradient_only();
  const Var kept_b = a.needs_gradient() ? b : b.gradient_only();
  return record("mul", broadcast_map("mul", product, a, b), {a, b},
                [a = kept_a, b = kept_b](Tensor& gradient) {
                  if (a.needs_gradient()) {
                    a.add_gradient(map(gradient.shape(), product, gradient, b.value()));
                  }
                  if (!b.needs_gradient()) return;
                  update(gradient, product, a.value());
                  b.add_gradient(std::move(gradient));
                });
}

Var div(const Var& a, const Var& b) {
  return record("div", broadcast_map("div", quotient, a, b), {a, b},
                [a = a.gradient_only(), b](const Tensor& y, Tensor& gradient) {
                  update(gradient, quotient, b.value());
                  a.add_gradient(gradient);
                  if (!b.needs_gradient()) return;
                  update_each(
                      gradient, [](real g, real v) { return -g * v; }, y);
                  b.add_gradient(std::move(gradient));
                });
}

Var pow(const Var& a, const Var& b) {
  const auto power = [](real x, real p) { return std::pow(x, p); };
  const auto slope_a = [](real g, real x, real p) { return g * power_slope(x, p); };
  const auto slope_b = [](real g, real x, real p) {
    return x > 0 ? g * std::pow(x, p) * std::log(x) : real(0);
  };
  return record("pow", broadcast_map("pow", power, a, b), {a, b},
                [a, b, slope_a, slope_b](Tensor& gradient) {
                  if (a.needs_gradient()) {
                    a.add_gradient(updated(gradient, slope_a, a.value(), b.value()));
                  }
                  if (!b.needs_gradient()) return;
                  update(gradient, slope_b, a.value(), b.value());
                  b.add_gradient(std::move(gradient));
                });
}

Var pow(const Var& a, real exponent) {
  const auto power = [exponent](real u) { return std::pow(u, exponent); };
  return record("pow", map_each(power, a.value()), {a}, [a, exponent](Tensor& gradient) {
    update_each(
        gradient, [exponent](real g, real u) { return g * power_slope(u, exponent); }, a.value());
    a.add_gradient(std::move(gradient));
  });
}

Var maximum(const Var& a, const Var& b) { return extreme("maximum", a, b, 1); }

Var minimum(const Var& a, const Var& b) { return extreme("minimum", a, b, -1); }

Var where(const Tensor& condition, const Var& a, const Var& b) {
  const Shape shape =
      broadcast_shape("where", broadcast_shape("where", a.shape(), b.shape()), condition.shape());
  const auto chosen = [](real c, real x, real y) { return c != 0 ? x : y; };
  return record("where", map(shape, chosen, condition, a.value(), b.value()), {a, b},
                [condition, a = a.gradient_only(), b = b.gradient_only()](Tensor& gradient) {
                  const auto part = [&](bool of_a) {
                    const auto masked = [of_a](real g, real c) {
                      return (c != 0) == of_a ? g : real(0);
                    };
                    return updated(gradient, masked, condition);
                  };
                  if (a.needs_gradient()) a.add_gradient(part(true));
                  if (b.needs_gradient()) b.add_gradient(part(false));
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
