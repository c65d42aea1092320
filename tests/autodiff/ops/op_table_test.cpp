#include "autodiff/op_table.hpp"

#include <bochner/autodiff/ops/elementwise.hpp>
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
