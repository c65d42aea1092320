#include <bochner/autodiff/ops/reduce.hpp>
#include <cmath>
#include <limits>

#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_reduce_test {

using Reduce = Var (*)(const Var&, const Axes&, Keep);

/// Adds one row per axis pattern: all, last, first, outer and inner, with and without kept axes.
void add_rows(std::vector<OpRow>& rows, const char* op, Reduce reduce, bool of_nothing,
              const Domain& domain) {
  const auto with = [reduce](Axes axes, Keep keep_axes) {
    return [=](Tape&, const std::vector<Var>& x) { return reduce(x[0], axes, keep_axes); };
  };
  std::vector<Shapes> any = {{{4, 3, 5}}, {{}}, {{1, 1}}, {{40001}}};
  if (of_nothing) any.push_back({{0, 3}});
  const std::vector<Shapes> three = {{{4, 3, 5}}, {{1, 2, 1}}, {{0, 3, 2}}, {{3, 67, 201}}};
  std::vector<Shapes> filled = {{{4, 3, 5}}, {{1, 2, 1}}, {{67, 3, 201}}};
  if (of_nothing) filled.push_back({{0, 3, 2}});
  rows.push_back({op, "", with({}, Keep::no), any, domain});
  rows.push_back({op, "AllKept", with({}, keep), any, domain});
  rows.push_back({op, "Last", with({-1}, Keep::no), three, domain});
  rows.push_back({op, "LastKept", with({2}, keep), three, domain});
  rows.push_back({op, "LastTwo", with({1, -1}, Keep::no), three, domain});
  rows.push_back({op, "First", with({0}, Keep::no), filled, domain});
  rows.push_back({op, "FirstTwoKept", with({0, 1}, keep), filled, domain});
  rows.push_back({op, "Middle", with({1}, Keep::no), three, domain});
  rows.push_back({op, "Outer", with({2, 0}, keep), filled, domain});
}

std::vector<OpRow> rows() {
  std::vector<OpRow> rows;
  add_rows(rows, "sum", sum, true, {});
  add_rows(rows, "mean", mean, false, {});
  add_rows(rows, "max", max, false, {.distinct = true});
  add_rows(rows, "logsumexp", logsumexp, true, {});
  add_rows(rows, "variance", variance, false, {});
  const std::vector<Shapes> cubes = {{{4, 3, 5}}, {{1, 2, 1}}, {{0, 3, 2}}, {{67, 3, 203}}};
  for (const int axis : {0, 1, -1})
    rows.push_back({"cumsum",
                    axis == 0   ? "First"
                    : axis == 1 ? "Middle"
                                : "",
                    [axis](Tape&, const std::vector<Var>& x) { return cumsum(x[0], axis); },
                    cubes});
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Reduce, OpTest, ::testing::ValuesIn(rows()), test_name);

constexpr real infinity = std::numeric_limits<real>::infinity();

Tensor row_of(std::initializer_list<double> values) {
  Tensor row = uninitialized({values.size()});
  std::transform(values.begin(), values.end(), row.data(), [](double x) { return real(x); });
  return row;
}

Var of_shape(const Shape& shape) { return Var(zeros(shape)); }
double value_of(const Var& x) { return x.value().data()[0]; }

TEST(Reduce, ValuesAreThoseOfTheFormulas) {
  const Var x(row_of({1, 2, 4, 5}));
  EXPECT_EQ(value_of(sum(x)), 12);
  EXPECT_EQ(value_of(sum(x, -1)), 12);
  EXPECT_EQ(value_of(mean(x)), 3);
  EXPECT_EQ(value_of(max(x)), 5);
  EXPECT_EQ(value_of(variance(x)), 2.5);
  EXPECT_NEAR(value_of(logsumexp(x)),
              std::log(std::exp(1.) + std::exp(2.) + std::exp(4.) + std::exp(5.)), 1e-6);
}

/// Compares all axis patterns with loops over the elements.
TEST(Reduce, SumsOverEverySetOfAxes) {
  const Shape shape{3, 4, 2, 5};
  const Tensor x = values_in({}, shape, 0);
  for (unsigned set = 1; set < 16; ++set) {
    Axes axes;
    Shape kept = shape;
    for (int axis = 0; axis < 4; ++axis) {
      if (!(set >> axis & 1)) continue;
      axes.push_back(axis);
      kept[std::size_t(axis)] = 1;
    }
    std::vector<double> expected(element_count(kept), 0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::size_t rest = i, target = 0, step = 1;
      for (std::size_t axis = 4; axis-- > 0; rest /= shape[axis]) {
        if (kept[axis] != 1) target += rest % shape[axis] * step;
        step *= kept[axis];
      }
      expected[target] += double(x.data()[i]);
    }
    const Var y = sum(Var(x), axes, keep);
    ASSERT_EQ(y.shape(), kept);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(y.data()[i], expected[i], 1e-4) << "axes " << set << ", element " << i;
    }
  }
}

/// A float sum of 10^6 times 0.1 in order is off by a percent.
TEST(Reduce, CumulativeSumsAreAddedInDouble) {
  const Tensor y = cumsum(Var(filled({1000000}, real(0.1)))).value();
  EXPECT_NEAR(double(y(999999)) / (1e6 * double(real(0.1))), 1, 1e-6);
  EXPECT_EQ(cumsum(Var(row_of({1, 2, 4, 5}))).value(), row_of({1, 3, 7, 12}));
}

TEST(Reduce, OfNothing) {
  EXPECT_EQ(value_of(sum(of_shape({0, 3}))), 0);
  EXPECT_EQ(sum(of_shape({0, 3}), 0).shape(), (Shape{3}));
  EXPECT_EQ(value_of(sum(of_shape({0, 3}), 0)), 0);
  EXPECT_EQ(value_of(logsumexp(of_shape({0}))), -infinity);
  EXPECT_EQ(max(of_shape({0, 3}), {1}).shape(), (Shape{0}));
  EXPECT_THROW(max(of_shape({0, 3})), std::invalid_argument);
  EXPECT_THROW(mean(of_shape({0, 3}), {0}), std::invalid_argument);
  EXPECT_THROW(variance(of_shape({0})), std::invalid_argument);
}

TEST(Reduce, LogsumexpNeitherOverflowsNorLosesInfinities) {
  EXPECT_NEAR(value_of(logsumexp(Var(row_of({1e4, 1e4})))), 1e4 + std::log(2.), 1e-3);
  EXPECT_EQ(value_of(logsumexp(Var(row_of({-infinity, 3})))), 3);
  EXPECT_EQ(value_of(logsumexp(Var(row_of({infinity, 3})))), infinity);
  Tape tape;
  const Var x = tape.input(row_of({-infinity, -infinity}));
  const Var y = logsumexp(x);
  EXPECT_EQ(value_of(y), -infinity);
  tape.backward(y);
  EXPECT_EQ(gradient_of(x).data()[0], 0);
}

TEST(Reduce, MaxGivesTheGradientToTheFirstOfEqualOnes) {
  Tape tape;
  const Var x = tape.input(row_of({1, 3, 3, 2}));
  tape.backward(max(x));
  EXPECT_EQ(gradient_of(x), row_of({0, 1, 0, 0}));
}

TEST(Reduce, MaxFindsNan) {
  Tape tape;
  const Var x = tape.input(row_of({1, std::nan(""), 3, 2}));
  const Var y = max(x);
  EXPECT_TRUE(std::isnan(value_of(y)));
  tape.backward(y);
  EXPECT_EQ(gradient_of(x), row_of({0, 1, 0, 0}));
}

/// A float of 10^9 has a spacing of 64.
TEST(Reduce, VarianceOfManyNumbersFarFromZero) {
  const Tensor noise = values_in({}, {1 << 20}, 0);
  Tensor x = noise;
  for (real& number : x) number = real(1001.3 + 0.05 * double(number));
  double mean = 0, square = 0;
  for (const real number : x) mean += double(number) / double(x.size());
  for (const real number : x) square += std::pow(double(number) - mean, 2) / double(x.size());
  Tape tape;
  const Var leaf = tape.input(x), y = variance(leaf);
  EXPECT_NEAR(value_of(y) / square, 1, 1e-3);
  tape.backward(y);
  const double expected = 2 * (double(x(7)) - mean) / double(x.size());
  EXPECT_NEAR(gradient_of(leaf)(7), expected, 1e-3 / double(x.size()));
}

TEST(Reduce, RefusesAxesThatAreNotThere) {
  EXPECT_THROW(sum(of_shape({2, 3}), 2), std::invalid_argument);
  EXPECT_THROW(sum(of_shape({2, 3}), {1, -1}), std::invalid_argument);
  EXPECT_THROW(sum(of_shape({}), 0), std::invalid_argument);
}

}  // namespace ops_reduce_test
}  // namespace bochner::inline BOCHNER_PRECISION
