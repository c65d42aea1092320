#include "autodiff/op_table.hpp"

#include <gmock/gmock.h>

#include <bochner/autodiff/forward_mode.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <cmath>
#include <set>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {

std::string test_name(const ::testing::TestParamInfo<OpRow>& info) {
  return info.param.op + (info.param.variant.empty() ? "" : "__" + info.param.variant);
}

void PrintTo(const OpRow& row, std::ostream* out) { *out << row.op << " " << row.variant; }

std::vector<Shapes> unary_shapes() { return {{{4, 3, 5}}, {{}}, {{0, 3}}, {{1, 1}}, {{40001}}}; }

std::vector<Shapes> binary_shapes() {
  return {{{4, 3, 5}, {4, 3, 5}}, {{4, 3, 5}, {5}},
          {{4, 3, 5}, {}},        {{4, 3, 5}, {1}},
          {{4, 3, 5}, {3, 1}},    {{3, 1}, {4, 3, 5}},
          {{4, 1, 5}, {3, 1}},    {{2, 1, 3, 1}, {4, 1, 2}},
          {{}, {4, 3}},           {{}, {}},
          {{1, 1}, {1}},          {{0, 3}, {0, 3}},
          {{0, 3}, {3}},          {{0, 3}, {1, 1}},
          {{40001}, {40001}},     {{40001}, {1}},
          {{3, 13335}, {3, 1}},   {{13335, 3}, {3}}};
}

namespace {

using namespace op_check;

double away_from_kinks(double x, const std::vector<double>& kinks) {
  constexpr double distance = 0.05;
  for (double kink : kinks) {
    if (std::abs(x - kink) < distance) x = x < kink ? kink - distance : kink + distance;
  }
  return x;
}

/// Returns an element's position in [0, 1), different for all elements of two inputs.
double lattice_position(std::size_t element, std::size_t size, std::size_t input) {
  constexpr std::size_t stride = 7919;  // a prime: a permutation of the elements
  const std::size_t place = element * stride % size;
  return (double(place) + 0.3 + 0.4 * double(input % 2)) / double(size);
}

std::vector<Tensor> values_of(const OpRow& row, const Shapes& shapes) {
  std::vector<Tensor> values;
  for (const Shape& shape : shapes) values.push_back(values_in(row.domain, shape, values.size()));
  return values;
}

bool is_long(const Shapes& shapes) {
  for (const Shape& shape : shapes) {
    if (element_count(shape) > 1000) return true;
  }
  return false;
}

std::string describe(const Shapes& shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += to_string(shape) + " ";
  return text;
}

/// Returns the number of elements per input whose gradients are compared.
std::size_t elements_of(const Shapes& shapes) { return is_long(shapes) ? 12 : 200; }

TEST_P(OpTest, GradientAgreesWithDifferences) {
  for (const Shapes& shapes : GetParam().shapes) {
    if (!is_double && is_long(shapes)) continue;  // differences in float drown in rounding
    SCOPED_TRACE(describe(shapes));
    expect_gradients(GetParam().f, values_of(GetParam(), shapes), elements_of(shapes));
  }
}

TEST_P(OpTest, GradientsAddToWhatIsThere) {
  for (const Shapes& shapes : GetParam().shapes) {
    SCOPED_TRACE(describe(shapes));
    expect_gradients_add_up(GetParam().f, values_of(GetParam(), shapes));
  }
}

TEST_P(OpTest, SameInputTwiceReceivesBothGradients) {
  for (const Shapes& shapes : GetParam().shapes) {
    if (is_long(shapes) || std::set<Shape>(shapes.begin(), shapes.end()).size() != 1) continue;
    SCOPED_TRACE(describe(shapes));
    const auto twice = [&](Tape& tape, const std::vector<Var>& x) {
      const std::vector<Var> inputs(shapes.size(), x[0]);
      const Var first = GetParam().f(tape, inputs);
      return shapes.size() > 1 ? first : first + square(GetParam().f(tape, inputs));
    };
    expect_gradients(twice, {values_in(GetParam().domain, shapes[0], 0)});
  }
}

TEST_P(OpTest, BitsDoNotDependOnThreads) {
  for (const Shapes& shapes : GetParam().shapes) {
    SCOPED_TRACE(describe(shapes));
    expect_equal_bits_for_threads(GetParam().f, values_of(GetParam(), shapes));
  }
}

/// Ops without a tangent rule.
const std::set<std::string> without_tangent = {
    "batch_norm",
    "conjugate_log_likelihood",
    "delta_rule",
    "dplr_delta_rule",
    "exponential_kernels",
    "fourier_series",
    "gaussian_log_likelihood",
    "iterative_log_likelihood",
    "log_gamma_quantile",
    "log_linear_attention",
    "max_pool",
    "monotone_spline",
    "noise_contrastive",
    "ridge_left_out",
    "sampled_softmax",
    "selective_scan",
    "soft_filter_pools",
    "state_space",
    "zero_order_hold",
};

using Arrays = std::vector<Tensor>;

Arrays directions_of(const Arrays& values, std::uint64_t stream) {
  Arrays directions;
  for (const Tensor& value : values)
    directions.push_back(random_tensor(value.shape(), stream + directions.size()));
  return directions;
}

/// Returns x + step v.
Arrays moved(const Arrays& x, const Arrays& v, double step) {
  Arrays y;
  for (std::size_t i = 0; i < x.size(); ++i) y.push_back(Tensor(x[i] + real(step) * v[i]));
  return y;
}

/// Returns (f(x + step v) - f(x - step v)) / (2 step) with the error of second order removed.
Arrays differences(const std::function<Arrays(const Arrays&)>& f, const Arrays& x,
                   const Arrays& v) {
  constexpr double step = 1e-4;
  const auto central = [&](double h) {
    Arrays change = moved(f(moved(x, v, h)), f(moved(x, v, -h)), -1);
    for (Tensor& each : change)
      for (real& number : each)
        if (std::isnan(number)) number = 0;  // -inf, the logsumexp of nothing, does not move
    return change;
  };
  const Arrays near = central(step), far = central(2 * step);
  Arrays slopes;
  for (std::size_t i = 0; i < near.size(); ++i)
    slopes.push_back(Tensor((real(8) * near[i] - far[i]) / real(12 * step)));
  return slopes;
}

double inner(const Arrays& a, const Arrays& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[i].size(); ++j)
      sum += double(a[i].data()[j]) * double(b[i].data()[j]);
  return sum;
}

void expect_near_all(const Arrays& found, const Arrays& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) expect_near(found[i], expected[i], 1e-6);
}

/// Calls check(values) for the short shapes of a row.
void for_each_short(const OpRow& row, const std::function<void(const Arrays&)>& check) {
  for (const Shapes& shapes : row.shapes) {
    if (is_long(shapes)) continue;
    SCOPED_TRACE(describe(shapes));
    check(values_of(row, shapes));
  }
}

/// Hessian-vector products of the sum of c f(x), for a random c, by the inputs.
class Hessian {
 public:
  Hessian(const Op& f, const Arrays& x) : f_(f) {
    for (const Tensor& value : x) parameters_.emplace_back(value);
    for (Parameter& parameter : parameters_) named_.push_back({"x", &parameter});
  }
  Arrays times(const Arrays& v) {
    const auto loss = [&](Tape& tape) {
      std::vector<Var> leaves;
      for (Parameter& parameter : parameters_) leaves.push_back(tape(parameter));
      const Var y = f_(tape, leaves);
      return sum(y * random_tensor(y.shape(), 99));
    };
    return hvp(loss, named_, v);
  }

 private:
  Op f_;
  std::vector<Parameter> parameters_;
  std::vector<NamedParameter> named_;
};

TEST_P(OpTest, TangentAgreesWithDifferences) {
  const auto values = [&](const Arrays& x) { return Arrays{value_of(GetParam().f, x)}; };
  for_each_short(GetParam(), [&](const Arrays& x) {
    const Arrays v = directions_of(x, 50);
    if (without_tangent.contains(GetParam().op)) {
      EXPECT_THAT(error_of<TangentError>([&] { jvp(GetParam().f, x, v); }),
                  ::testing::HasSubstr("] has no tangent rule"));
    } else if (is_double) {
      const Dual y = jvp(GetParam().f, x, v);
      expect_near(y.value, value_of(GetParam().f, x), 1e-10);
      expect_near_all({y.tangent}, differences(values, x, v));
    }
  });
}

TEST_P(OpTest, HessianIsSymmetricAndAgreesWithDifferences) {
  if (!is_double || without_tangent.contains(GetParam().op)) return;
  const auto gradients = [&](const Arrays& x) {
    Arrays all = value_and_gradients(GetParam().f, x);
    all.erase(all.begin());
    return all;
  };
  for_each_short(GetParam(), [&](const Arrays& x) {
    const Arrays v = directions_of(x, 50), u = directions_of(x, 70);
    Hessian hessian(GetParam().f, x);
    const Arrays hv = hessian.times(v), hu = hessian.times(u);
    expect_near_all(hv, differences(gradients, x, v));
    const double scale = 1 + std::sqrt(inner(hv, hv) * inner(u, u));
    EXPECT_NEAR(inner(u, hv), inner(v, hu), 1e-10 * scale);
  });
}

}  // namespace

Tensor values_in(const Domain& domain, const Shape& shape, std::size_t input) {
  const RandomFunction random{7, Purpose::test, input};
  Tensor values = uninitialized(shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double position =
        domain.distinct ? lattice_position(i, values.size(), input) : random.uniform(i);
    const double x = domain.low + (domain.high - domain.low) * position;
    values.data()[i] = real(away_from_kinks(x, domain.kinks));
  }
  return values;
}

}  // namespace bochner::inline BOCHNER_PRECISION
