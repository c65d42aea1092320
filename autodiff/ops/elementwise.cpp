#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/ops/broadcast.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Records y = f(x) with y' a function of x, and slope(x), the same on the tape.
template <class Function, class Derivative, class Slope>
Var unary(const char* op, const Var& x, const Function& f, const Derivative& derivative,
          const Slope& slope) {
  return record(op, map_each(f, x.value()), {x},
                [x, derivative](Tensor& gradient) {
                  update_each(
                      gradient, [&](real g, real u) { return g * derivative(u); }, x.value());
                  x.add_gradient(std::move(gradient));
                },
                {{x, [&](const Var& d) { return d * slope(x); }}});
}

/// Records y = f(x) with y' a function of y, so that x is not kept, and slope(y) on the tape.
template <class Function, class Derivative, class Slope>
Var unary_by_output(const char* op, const Var& x, const Function& f, const Derivative& derivative,
                    const Slope& slope) {
  return record(op, map_each(f, x.value()), {x},
                [x = x.gradient_only(), derivative](const Tensor& y, Tensor& gradient) {
                  update_each(
                      gradient, [&](real g, real v) { return g * derivative(v); }, y);
                  x.add_gradient(std::move(gradient));
                },
                {{x, [&](const Var& d, const Var& y) { return d * slope(y); }}});
}

/// Returns the slope of a piecewise linear function: constant, so its own slope is 0.
template <class Derivative>
auto constant_slope(const Derivative& derivative) {
  return [=](const Var& x) { return Var(map_each(derivative, x.value())); };
}

template <class Function>
Var linear_unary(const char* op, const Var& x, const Function& f, real slope) {
  return record(
      op, map_each(f, x.value()), {x},
      [x = x.gradient_only(), slope](Tensor& gradient) {
        if (slope != 1) update(gradient, [slope](real g) { return slope * g; });
        x.add_gradient(std::move(gradient));
      },
      {{x, [&](const Var& d) { return slope == 1 ? d : scale(d, slope); }, TangentRule::linear}});
}

template <class Function>
Tensor broadcast_map(const char* op, const Function& f, const Var& a, const Var& b) {
  return map(broadcast_shape(op, a.shape(), b.shape()), f, a.value(), b.value());
}

constexpr auto same = [](const Var& d) { return d; };
constexpr auto product = [](real x, real y) { return x * y; };
constexpr auto quotient = [](real x, real y) { return x / y; };

/// Returns f(y, x..) on a copy of y.
template <class Function, class... Operands>
Tensor updated(Tensor y, const Function& f, const Operands&... x) {
  update(y, f, x...);
  return y;
}

/// Returns the larger for sign 1, the smaller for sign -1; a where it is NaN.
Var extreme(const char* op, const Var& a, const Var& b, real sign) {
  const auto takes_a = [sign](real x, real y) { return sign * x >= sign * y || x != x; };
  const auto chosen = [takes_a](real x, real y) { return takes_a(x, y) ? x : y; };
  const auto chosen_part = [&](const Var& d, bool of_a) {
    const auto is_taken = [&](real x, real y) { return real(takes_a(x, y) == of_a); };
    return d * Var(broadcast_map(op, is_taken, a, b));
  };
  return record(op, broadcast_map(op, chosen, a, b), {a, b},
                [a, b, takes_a](Tensor& gradient) {
                  const auto part = [&](bool of_a) {
                    const auto term = [&](real g, real x, real y) {
                      return takes_a(x, y) == of_a ? g : real(0);
                    };
                    return updated(gradient, term, a.value(), b.value());
                  };
                  if (a.needs_gradient()) a.add_gradient(part(true));
                  if (b.needs_gradient()) b.add_gradient(part(false));
                },
                {{a, [&](const Var& d) { return chosen_part(d, true); }},
                 {b, [&](const Var& d) { return chosen_part(d, false); }}});
}

/// Returns ln(1 + u); the rounding of 1 + u cancels in the quotient. Kahan.
constexpr auto log_of_one_plus = [](real u) {
  const real sum = 1 + u;
  const bool same = sum == 1 || sum == std::numeric_limits<real>::infinity();
  return same ? u : math::log(sum) * (u / (sum - 1));
};

/// Returns e^u - 1 for u <= 1, accurate near 0.
inline real exponential_less_one(real u) {
  const real t = math::tanh(u / 2);
  return 2 * t / (1 - t);
}

/// Returns ln x, finite at x = 0.
Var log_above_zero(const Var& x) {
  return log(maximum(x, Var(filled({}, std::numeric_limits<real>::min()))));
}

/// Returns the slope of an op as an op without a tangent, by its value and its own slope.
template <class Function, class Derivative>
Var slope_op(const char* op, const Var& x, const Function& f, const Derivative& derivative) {
  return record(op, map_each(f, x.value()), {x}, [x, derivative](Tensor& gradient) {
    update_each(
        gradient, [&](real g, real u) { return g * derivative(u); }, x.value());
    x.add_gradient(std::move(gradient));
  });
}

constexpr auto gelu_slope = [](real u) {
  real value, slope;
  math::gelu(u, &value, &slope);
  return slope;
};

/// Returns (2 - u^2) times the density of the normal distribution.
constexpr auto gelu_curvature = [](real u) {
  constexpr real height = real(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
  return height * (2 - u * u) * math::exp(-u * u / 2);
};

constexpr auto silu_slope = [](real u) {
  const real s = math::sigmoid(u);
  return s * (1 + u * (1 - s));
};

constexpr auto silu_curvature = [](real u) {
  const real s = math::sigmoid(u);
  return s * (1 - s) * (2 + u * (1 - 2 * s));
};

/// Returns d(u^p)/du.
real power_slope(real u, real p) { return p == 0 ? real(0) : p * std::pow(u, p - 1); }

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
      "exp", x, [](real u) { return math::exp(u); }, [](real y) { return y; },
      [](const Var& y) { return y; });
}

Var log(const Var& x) {
  return unary(
      "log", x, [](real u) { return math::log(u); }, [](real u) { return 1 / u; },
      [](const Var& x) { return pow(x, real(-1)); });
}

Var log1p(const Var& x) {
  return unary(
      "log1p", x, log_of_one_plus, [](real u) { return 1 / (1 + u); },
      [](const Var& x) { return pow(x + 1, real(-1)); });
}

Var expm1(const Var& x) {
  const auto f = [](real u) {  // computes both forms, so that loops vectorise
    const real small = exponential_less_one(u), large = math::exp(u) - 1;
    return u > 1 ? large : small;
  };
  const auto slope = [](const auto& y) { return y + 1; };
  return unary_by_output("expm1", x, f, slope, slope);
}

Var sqrt(const Var& x) {
  return unary_by_output(
      "sqrt", x, [](real u) { return std::sqrt(u); }, [](real y) { return real(0.5) / y; },
      [](const Var& y) { return 0.5 * pow(y, real(-1)); });
}

Var square(const Var& x) {
  return unary(
      "square", x, [](real u) { return u * u; }, [](real u) { return 2 * u; },
      [](const Var& x) { return 2 * x; });
}

Var sin(const Var& x) {
  return unary(
      "sin", x, [](real u) { return math::sin(u); }, [](real u) { return math::cos(u); },
      [](const Var& x) { return cos(x); });
}

Var cos(const Var& x) {
  return unary(
      "cos", x, [](real u) { return math::cos(u); }, [](real u) { return -math::sin(u); },
      [](const Var& x) { return -sin(x); });
}

Var tanh(const Var& x) {
  return unary_by_output(
      "tanh", x, [](real u) { return math::tanh(u); }, [](real y) { return 1 - y * y; },
      [](const Var& y) { return 1 - square(y); });
}

Var sigmoid(const Var& x) {
  return unary_by_output(
      "sigmoid", x, [](real u) { return math::sigmoid(u); }, [](real y) { return y * (1 - y); },
      [](const Var& y) { return y - square(y); });
}

Var softplus(const Var& x) {
  return unary(
      "softplus", x, [](real u) { return math::softplus(u); },
      [](real u) { return math::sigmoid(u); }, [](const Var& x) { return sigmoid(x); });
}

Var relu(const Var& x) {
  const auto slope = [](real y) { return y > 0 ? real(1) : real(0); };
  // Keeps NaN.
  return unary_by_output(
      "relu", x, [](real u) { return u < 0 ? real(0) : u; }, slope, constant_slope(slope));
}

Var elu(const Var& x) {
  return unary_by_output(
      "elu", x, [](real u) { return u > 0 ? u : exponential_less_one(u); },
      [](real y) { return y > 0 ? real(1) : y + 1; },
      [](const Var& y) { return minimum(y, Var(zeros({}))) + 1; });
}

Var gelu(const Var& x) {
  const auto slope = [](const Var& x) {
    return slope_op("gelu_slope", x, gelu_slope, gelu_curvature);
  };
  return unary(
      "gelu", x, [](real u) { return math::gelu(u); }, gelu_slope, slope);
}

Var silu(const Var& x) {
  const auto slope = [](const Var& x) {
    return slope_op("silu_slope", x, silu_slope, silu_curvature);
  };
  return unary(
      "silu", x, [](real u) { return u * math::sigmoid(u); }, silu_slope, slope);
}

Var erf(const Var& x) {
  constexpr real factor = real(2 * std::numbers::inv_sqrtpi);
  return unary(
      "erf", x, [](real u) { return math::erf(u); },
      [](real u) { return factor * math::exp(-u * u); },
      [](const Var& x) { return double(factor) * exp(-square(x)); });
}

Var normal_cdf(const Var& x) {
  constexpr real height = real(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
  return unary(
      "normal_cdf", x, [](real u) { return math::normal_cdf(u); },
      [](real u) { return height * math::exp(-u * u / 2); },
      [](const Var& x) { return double(height) * exp(-0.5 * square(x)); });
}

Var abs(const Var& x) {
  const auto slope = [](real u) { return real(u > 0) - real(u < 0); };
  return unary(
      "abs", x, [](real u) { return std::abs(u); }, slope, constant_slope(slope));
}

Var clamp(const Var& x, real low, real high) {
  require(low <= high, "clamp", "low ", low, " is above high ", high);
  const auto slope = [=](real u) { return u >= low && u <= high ? real(1) : real(0); };
  return unary(
      "clamp", x, [=](real u) { return u < low ? low : (u > high ? high : u); }, slope,
      constant_slope(slope));
}

Var add(const Var& a, const Var& b) {
  const auto sum = [](real x, real y) { return x + y; };
  return record("add", broadcast_map("add", sum, a, b), {a, b},
                [a = a.gradient_only(), b = b.gradient_only()](Tensor& gradient) {
                  b.add_gradient(gradient);
                  a.add_gradient(std::move(gradient));
                },
                {{a, same, TangentRule::linear}, {b, same, TangentRule::linear}});
}

Var sub(const Var& a, const Var& b) {
  const auto difference = [](real x, real y) { return x - y; };
  return record(
      "sub", broadcast_map("sub", difference, a, b), {a, b},
      [a = a.gradient_only(), b = b.gradient_only()](Tensor& gradient) {
        a.add_gradient(gradient);
        if (!b.needs_gradient()) return;
        update(gradient, [](real g) { return -g; });
        b.add_gradient(std::move(gradient));
      },
      {{a, same, TangentRule::linear}, {b, [](const Var& d) { return -d; }, TangentRule::linear}});
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
                },
                {{a, [&](const Var& d) { return d * b; }, TangentRule::factor},
                 {b, [&](const Var& d) { return d * a; }, TangentRule::factor}});
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
                },
                {{a, [&](const Var& d) { return d / b; }, TangentRule::factor},
                 {b, [&](const Var& d, const Var& y) { return -(d * y / b); }}});
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
                },
                {{a, [&](const Var& d) { return d * b * pow(a, b - 1); }},
                 {b, [&](const Var& d, const Var& y) { return d * y * log_above_zero(a); }}});
}

Var pow(const Var& a, real exponent) {
  return unary(
      "pow", a, [exponent](real u) { return std::pow(u, exponent); },
      [exponent](real u) { return power_slope(u, exponent); },
      [exponent](const Var& u) {
        return exponent == 0 ? Var(zeros({})) : double(exponent) * pow(u, exponent - 1);
      });
}

Var maximum(const Var& a, const Var& b) { return extreme("maximum", a, b, 1); }

Var minimum(const Var& a, const Var& b) { return extreme("minimum", a, b, -1); }

Var where(const Tensor& condition, const Var& a, const Var& b) {
  const Shape both = broadcast_shape("where", a.shape(), b.shape());
  const Shape shape = broadcast_shape("where, condition and cases", condition.shape(), both);
  const auto chosen = [](real c, real x, real y) { return c != 0 ? x : y; };
  return record(
      "where", map(shape, chosen, condition, a.value(), b.value()), {a, b},
      [condition, a = a.gradient_only(), b = b.gradient_only()](Tensor& gradient) {
        const auto part = [&](bool of_a) {
          const auto masked = [of_a](real g, real c) { return (c != 0) == of_a ? g : real(0); };
          return updated(gradient, masked, condition);
        };
        if (a.needs_gradient()) a.add_gradient(part(true));
        if (b.needs_gradient()) b.add_gradient(part(false));
      },
      {{a, [&](const Var& d) { return where(condition, d, Var(zeros({}))); }, TangentRule::linear},
       {b, [&](const Var& d) { return where(condition, Var(zeros({})), d); },
        TangentRule::linear}});
}

Var where(const Var& condition, const Var& a, const Var& b) {
  return where(condition.value(), a, b);
}

}  // namespace bochner::inline BOCHNER_PRECISION
