#include <bochner/autodiff/ops/elementwise.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "autodiff/op_check.hpp"
#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_elementwise_test {

using Inputs = std::vector<Var>;

OpRow unary_row(const char* op, Var (*f)(const Var&), Domain domain = {}) {
  return {op, "", [f](Tape&, const Inputs& x) { return f(x[0]); }, unary_shapes(), domain};
}

OpRow binary_row(const char* op, Var (*f)(const Var&, const Var&), Domain domain = {}) {
  return {op, "", [f](Tape&, const Inputs& x) { return f(x[0], x[1]); }, binary_shapes(), domain};
}

/// Returns a row of where(), with a condition of the first input's shape or broadcast.
OpRow where_row(const char* variant, bool broadcast) {
  const auto f = [broadcast](Tape&, const Inputs& x) {
    Tensor condition = zeros(broadcast ? Shape{3, 1} : x[0].shape());
    for (std::size_t i = 0; i < condition.size(); ++i) condition.data()[i] = real(i * i % 3);
    return where(condition, x[0], x[1]);
  };
  const std::vector<Shapes> wide = {{{4, 3, 5}, {5}}, {{4, 1, 5}, {}}, {{1}, {1}}};
  return {"where", variant, f, broadcast ? wide : binary_shapes()};
}

std::vector<OpRow> rows() {
  const Domain positive{0.3, 2.5};
  return {
      binary_row("add", add),
      binary_row("sub", sub),
      binary_row("mul", mul),
      binary_row("div", div, {0.4, 2.5}),
      binary_row("pow", pow, positive),
      {"pow", "Constant", [](Tape&, const Inputs& x) { return pow(x[0], real(-1.5)); },
       unary_shapes(), positive},
      {"pow", "Zero", [](Tape&, const Inputs& x) { return pow(x[0], real(0)); }, unary_shapes()},
      binary_row("maximum", maximum, {.distinct = true}),
      binary_row("minimum", minimum, {.distinct = true}),
      where_row("", false),
      where_row("BroadcastCondition", true),
      {"where",
       "VarCondition",
       [](Tape&, const Inputs& x) { return where(x[1] - x[0], x[0], 3 * x[1]); },
       {{{4, 3}, {4, 3}}}},
      {"gumbel_noise", "",
       [](Tape& tape, const Inputs& x) { return x[0] * gumbel_noise(tape, x[0].shape()); },
       unary_shapes()},
      {"scale", "", [](Tape&, const Inputs& x) { return scale(x[0], real(-2.5)); }, unary_shapes()},
      {"shift", "", [](Tape&, const Inputs& x) { return shift(x[0], real(1.5)); }, unary_shapes()},
      unary_row("neg", neg),
      unary_row("exp", exp),
      unary_row("log", log, positive),
      unary_row("log1p", log1p, {-0.7, 2.5}),
      unary_row("expm1", expm1),
      unary_row("normal_cdf", normal_cdf, {-4, 4}),
      unary_row("sqrt", sqrt, positive),
      unary_row("square", square),
      unary_row("sin", sin, {-4, 4}),
      unary_row("cos", cos, {-4, 4}),
      unary_row("tanh", tanh),
      unary_row("sigmoid", sigmoid, {-5, 5}),
      unary_row("softplus", softplus, {-5, 5}),
      unary_row("relu", relu, {-2, 2, {0}}),
      unary_row("elu", elu, {-3, 3}),
      unary_row("gelu", gelu, {-4, 4}),
      unary_row("silu", silu, {-5, 5}),
      unary_row("erf", erf),
      unary_row("abs", abs, {-2, 2, {0}}),
      {"clamp",
       "",
       [](Tape&, const Inputs& x) { return clamp(x[0], real(-0.7), real(1.1)); },
       unary_shapes(),
       {-2, 2, {-0.7, 1.1}}},
  };
}

INSTANTIATE_TEST_SUITE_P(Elementwise, OpTest, ::testing::ValuesIn(rows()), test_name);

constexpr real infinity = std::numeric_limits<real>::infinity();
constexpr real nan = std::numeric_limits<real>::quiet_NaN();

Var scalar(double value) { return Var(filled({}, real(value))); }
double value_of(const Var& x) { return x.value().data()[0]; }

/// Returns dy/dx of a function of one number.
double slope_at(double x, const std::function<Var(const Var&)>& f) {
  Tape tape;
  const Var leaf = tape.input(filled({}, real(x)));
  tape.backward(f(leaf));
  return gradient_of(leaf).data()[0];
}

TEST(Elementwise, ValuesAreThoseOfTheFormulas) {
  const double tolerance = std::is_same_v<real, double> ? 1e-12 : 2e-6;
  const double x = 0.6, sigma = 1 / (1 + std::exp(-x));
  const std::vector<std::pair<Var, double>> cases = {
      {scalar(x) + scalar(2), 2.6},
      {scalar(x) - scalar(2), -1.4},
      {scalar(x) * scalar(2), 1.2},
      {scalar(x) / scalar(2), 0.3},
      {pow(scalar(x), scalar(3)), x * x * x},
      {pow(scalar(x), real(-2)), 1 / (x * x)},
      {maximum(scalar(x), scalar(2)), 2},
      {minimum(scalar(x), scalar(2)), x},
      {3 * scalar(x), 1.8},
      {scalar(x) * 3, 1.8},
      {scalar(x) / 3, 0.2},
      {scalar(x) + 1, 1.6},
      {1 + scalar(x), 1.6},
      {scalar(x) - 1, -0.4},
      {1 - scalar(x), 0.4},
      {-scalar(x), -0.6},
      {exp(scalar(x)), std::exp(x)},
      {log(scalar(x)), std::log(x)},
      {sqrt(scalar(x)), std::sqrt(x)},
      {square(scalar(x)), x * x},
      {sin(scalar(x)), std::sin(x)},
      {cos(scalar(x)), std::cos(x)},
      {tanh(scalar(x)), std::tanh(x)},
      {sigmoid(scalar(x)), sigma},
      {softplus(scalar(x)), std::log1p(std::exp(x))},
      {relu(scalar(-x)), 0},
      {elu(scalar(x)), x},
      {elu(scalar(-x)), std::exp(-x) - 1},
      {gelu(scalar(x)), x * 0.5 * std::erfc(-x / std::numbers::sqrt2)},
      {silu(scalar(x)), x * sigma},
      {erf(scalar(x)), std::erf(x)},
      {abs(scalar(-x)), x},
      {clamp(scalar(x), real(-0.25), real(0.5)), 0.5},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_NEAR(value_of(cases[i].first), cases[i].second, tolerance) << "case " << i;
  }
}

TEST(Elementwise, BroadcastsByPosition) {
  Tensor a = uninitialized({2, 1, 3}), b = uninitialized({4, 1});
  for (std::size_t i = 0; i < a.size(); ++i) a.data()[i] = real(i);
  for (std::size_t i = 0; i < b.size(); ++i) b.data()[i] = real(10 * i);
  const Var y = add(a, b);
  ASSERT_EQ(y.shape(), (Shape{2, 4, 3}));
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_EQ(y.value()(i, j, k), real(3 * i + k + 10 * j));
      }
    }
  }
}

TEST(Elementwise, KeepsNanAlive) {
  for (const Var& y : {maximum(scalar(nan), scalar(1)), maximum(scalar(1), scalar(nan)),
                       minimum(scalar(nan), scalar(1)), minimum(scalar(1), scalar(nan)),
                       relu(scalar(nan)), clamp(scalar(nan), 0, 1), abs(scalar(nan))}) {
    EXPECT_TRUE(std::isnan(value_of(y)));
  }
}

TEST(Elementwise, GradientsAtKinksAreThoseDeclared) {
  EXPECT_EQ(slope_at(0, [](const Var& x) { return abs(x); }), 0);
  EXPECT_EQ(slope_at(0, [](const Var& x) { return relu(x); }), 0);
  EXPECT_EQ(slope_at(1, [](const Var& x) { return maximum(x, scalar(1)); }), 1);
  EXPECT_EQ(slope_at(1, [](const Var& x) { return maximum(scalar(1), x); }), 0);
  EXPECT_EQ(slope_at(1, [](const Var& x) { return minimum(x, scalar(1)); }), 1);
  EXPECT_EQ(slope_at(2, [](const Var& x) { return clamp(x, 0, 1); }), 0);
  EXPECT_EQ(slope_at(1, [](const Var& x) { return clamp(x, 0, 1); }), 1);
  EXPECT_EQ(slope_at(2, [](const Var& x) { return pow(scalar(0), x); }), 0);
  EXPECT_EQ(slope_at(0, [](const Var& x) { return pow(x, real(0)); }), 0);
}

TEST(Elementwise, LargeArgumentsDoNotOverflow) {
  EXPECT_EQ(value_of(sigmoid(scalar(-1000))), 0);
  EXPECT_EQ(value_of(sigmoid(scalar(1000))), 1);
  EXPECT_EQ(value_of(softplus(scalar(1000))), 1000);
  EXPECT_EQ(value_of(softplus(scalar(-1000))), 0);
  EXPECT_EQ(value_of(tanh(scalar(1000))), 1);
  EXPECT_EQ(value_of(exp(scalar(-infinity))), 0);
  EXPECT_EQ(value_of(silu(scalar(-1000))), 0);
}

TEST(Elementwise, EluIsAccurateNearZero) {
  for (const double x : {-1e-30, -1e-6, -1e-3, -0.1, -0.4, -1.1, -5.0, -40.0}) {
    const double expected = std::expm1(double(real(x)));
    EXPECT_NEAR(value_of(elu(scalar(real(x)))) / expected, 1,
                4 * double(std::numeric_limits<real>::epsilon()))
        << x;
  }
  EXPECT_EQ(value_of(elu(scalar(-infinity))), -1);
  EXPECT_TRUE(std::isnan(value_of(elu(scalar(nan)))));
}

TEST(Elementwise, SmallArgumentsKeepTheirDigits) {
  const double tolerance = 4 * double(std::numeric_limits<real>::epsilon());
  for (const double x : {-30.0, -3.0, -0.9, -0.1, -1e-6, -1e-20, 1e-9, 0.3, 0.9, 1.1, 40.0}) {
    if (x > -1) {
      EXPECT_NEAR(value_of(log1p(scalar(x))) / std::log1p(double(real(x))), 1, tolerance) << x;
    }
    EXPECT_NEAR(value_of(expm1(scalar(x))) / std::expm1(double(real(x))), 1, tolerance) << x;
  }
  EXPECT_EQ(value_of(log1p(scalar(infinity))), infinity);
  EXPECT_EQ(value_of(log1p(scalar(-1))), -infinity);
  EXPECT_EQ(value_of(expm1(scalar(-infinity))), -1);
  EXPECT_EQ(value_of(expm1(scalar(infinity))), infinity);
  EXPECT_NEAR(value_of(normal_cdf(scalar(-8))) / 6.220960574271785e-16, 1, 40 * tolerance);
}

TEST(Elementwise, WhereTakesHandlesOfAnyCategory) {
  Tape tape;
  Tensor condition = filled({2}, real(1));
  Var a = tape.input(filled({2}, real(3)));
  const Var b = tape.input(filled({2}, real(4)));
  EXPECT_EQ(value_of(where(condition, a, b)), 3);
  EXPECT_EQ(value_of(where(filled({2}, real(0)), a, b * 2)), 8);
  Var no = tape.input(filled({1}, real(0)));
  EXPECT_EQ(value_of(where(no, a, b)), 4);
  EXPECT_EQ(value_of(where(a, a, b * 2)), 3);
}

TEST(Elementwise, RefusesShapesThatDoNotBroadcast) {
  EXPECT_EQ(op_check::error_of([] {
              add(Var(zeros({4, 3})), Var(zeros({2, 3})));
            }),
            "[add] shapes do not broadcast: a (4, 3), b (2, 3)");
  EXPECT_EQ(op_check::error_of([] { where(zeros({3}), Var(zeros({2})), Var(zeros({2}))); }),
            "[where, condition and cases] shapes do not broadcast: a (3), b (2)");
  EXPECT_THROW(clamp(Var(zeros({2})), 1, 0), std::invalid_argument);
}

/// xtensor's own operators would build expressions of a Var.
TEST(Elementwise, TakesArraysOnEitherSide) {
  Tape tape;
  const Var x = tape.input(filled({2}, 6));
  const Tensor three = filled({2}, 3);
  const std::pair<Var, real> results[] = {{x + three, 9},  {three + x, 9},  {x - three, 3},
                                          {three - x, -3}, {x * three, 18}, {three * x, 18},
                                          {x / three, 2},  {three / x, 0.5}};
  for (const auto& [y, expected] : results) {
    EXPECT_EQ(y.value(), filled({2}, expected));
    EXPECT_TRUE(y.needs_gradient());
  }
  Tensor changing = three;
  EXPECT_EQ((x + changing).value(), filled({2}, 9));
  EXPECT_EQ((filled({2}, 1) - (x * filled({2}, 2))).value(), filled({2}, -11));
}

}  // namespace ops_elementwise_test
}  // namespace bochner::inline BOCHNER_PRECISION
