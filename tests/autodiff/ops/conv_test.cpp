#include <bochner/autodiff/ops/conv.hpp>
#include <cmath>
#include <limits>

#include "autodiff/op_check.hpp"
#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace conv_test {

using namespace op_check;
using Inputs = std::vector<Var>;

OpRow conv1d_row(const char* variant, const ConvOptions& options, std::vector<Shapes> shapes) {
  return {"conv1d", variant, [=](Tape&, const Inputs& x) { return conv1d(x[0], x[1], options); },
          std::move(shapes)};
}

OpRow conv2d_row(const char* variant, const ConvOptions& options, std::vector<Shapes> shapes) {
  return {"conv2d", variant, [=](Tape&, const Inputs& x) { return conv2d(x[0], x[1], options); },
          std::move(shapes)};
}

OpRow pool_row(const char* op, const char* variant, const PoolOptions& options,
               std::vector<Shapes> shapes) {
  const auto pool = std::string(op) == "max_pool" ? max_pool : mean_pool;
  return {op,
          variant,
          [=](Tape&, const Inputs& x) { return pool(x[0], options); },
          std::move(shapes),
          {-2, 2, {}, true}};
}

std::vector<OpRow> rows() {
  const std::vector<Shapes> sequences{
      {{2, 7, 3}}, {{1, 1, 4}}, {{0, 5, 2}}, {{2, 4, 0}}, {{3, 401, 9}}};
  const std::vector<Shapes> images{
      {{2, 5, 7, 3}}, {{1, 1, 3, 2}}, {{0, 4, 4, 2}}, {{2, 33, 31, 5}}};
  return {conv1d_row("", {},
                     {{{2, 7, 3}, {3, 3, 5}},
                      {{1, 1, 2}, {1, 2, 2}},
                      {{0, 4, 2}, {2, 2, 3}},
                      {{2, 3, 2}, {5, 2, 3}},
                      {{2, 3, 0}, {2, 0, 3}},
                      {{3, 301, 8}, {3, 8, 9}}}),
          conv1d_row("Strided", {2, 1, 1},
                     {{{2, 8, 3}, {3, 3, 4}}, {{2, 9, 2}, {4, 2, 3}}, {{1, 2, 2}, {4, 2, 1}}}),
          conv1d_row("Grouped", {1, 2, 2}, {{{2, 6, 4}, {3, 2, 6}}, {{1, 601, 6}, {2, 3, 4}}}),
          conv1d_row("Depthwise", {3, 2, 5}, {{{2, 11, 5}, {4, 1, 5}}, {{2, 2501, 5}, {4, 1, 5}}}),
          conv2d_row("", {},
                     {{{2, 4, 5, 3}, {3, 2, 3, 4}},
                      {{1, 1, 1, 2}, {1, 1, 2, 3}},
                      {{0, 4, 4, 1}, {2, 2, 1, 2}},
                      {{2, 2, 2, 1}, {3, 3, 1, 1}},
                      {{2, 25, 17, 3}, {3, 3, 3, 5}}}),
          conv2d_row("Strided", {2, 1, 1}, {{{2, 6, 5, 2}, {3, 4, 2, 3}}}),
          conv2d_row("Grouped", {1, 1, 3}, {{{1, 4, 3, 6}, {3, 3, 2, 3}}}),
          conv2d_row("Depthwise", {2, 1, 3},
                     {{{2, 5, 6, 3}, {3, 3, 1, 3}}, {{2, 61, 60, 3}, {3, 3, 1, 3}}}),
          pool_row("max_pool", "", {}, sequences),
          pool_row("max_pool", "Images", {3, 2, 1}, images),
          pool_row("mean_pool", "", {}, sequences),
          pool_row("mean_pool", "Images", {3, 2, 1}, images)};
}

INSTANTIATE_TEST_SUITE_P(Conv, OpTest, ::testing::ValuesIn(rows()), test_name);

/// Computes each element by definition. x (B, R, S, C), w (K, L, C / groups, E)
Tensor naive(const Tensor& x, const Tensor& w, const ConvOptions& options, const Shape& result) {
  const auto& X = x.shape();
  const auto& W = w.shape();
  const std::size_t inputs = W[2], E = W[3], outputs = E / options.groups;
  Tensor y = zeros(result);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t e = i % E, s = i / E % result[2], r = i / E / result[2] % result[1];
    const std::size_t b = i / E / result[2] / result[1];
    double sum = 0;
    for (std::size_t u = 0; u < W[0]; ++u)
      for (std::size_t v = 0; v < W[1]; ++v) {
        const long row = long(r * options.stride + u) - long(options.padding);
        const long column = long(s * options.stride + v) - long(options.padding);
        if (row < 0 || column < 0 || row >= long(X[1]) || column >= long(X[2])) continue;
        for (std::size_t c = 0; c < inputs; ++c)
          sum += double(x(b, row, column, e / outputs * inputs + c)) * double(w(u, v, c, e));
      }
    y.data()[i] = real(sum);
  }
  return y;
}

TEST(Conv, AgreesWithItsDefinition) {
  const Tensor x = random_tensor({2, 9, 8, 6}, 1);
  for (const ConvOptions& options : {ConvOptions{1, 0, 1}, {2, 1, 1}, {3, 2, 2}, {1, 1, 3}}) {
    const Tensor w = random_tensor({3, 2, 6 / options.groups, 12}, 2);
    const Tensor y = conv2d(x, w, options).value();
    expect_near(y, naive(x, w, options, y.shape()), 10 * tolerance);
    EXPECT_EQ(y.shape()[1], (9 + 2 * options.padding - 3) / options.stride + 1);
    EXPECT_EQ(y.shape()[2], (8 + 2 * options.padding - 2) / options.stride + 1);
  }
  const ConvOptions depthwise{2, 1, 6};
  const Tensor w = random_tensor({3, 3, 1, 6}, 3);
  const Tensor y = conv2d(x, w, depthwise).value();
  expect_near(y, naive(x, w, depthwise, y.shape()), 10 * tolerance);
}

TEST(Conv, OfOneAxisIsThatOfOneRow) {
  const Tensor x = random_tensor({2, 20, 4}, 1), w = random_tensor({3, 2, 6}, 2);
  const auto with_axis = [](Tensor x, std::size_t axis) {
    Shape shape = x.shape();
    shape.insert(shape.begin() + long(axis), 1);
    x.reshape(shape);
    return x;
  };
  Tensor expected = naive(with_axis(x, 1), with_axis(w, 0), {2, 0, 2}, {2, 1, 9, 6});
  expected.reshape(Shape{2, 9, 6});
  expect_near(conv1d(x, w, {2, 0, 2}).value(), expected, 10 * tolerance);
}

/// Gradients of taps over more windows than there are chunks of 64.
TEST(Conv, SumsDepthwiseTapsOverManyWindows) {
  const std::size_t T = 20000, C = 64, taps = 8;
  const Tensor x = random_tensor({1, T, C}, 1), g = random_tensor({1, T + 1 - taps, C}, 2);
  Parameter w{random_tensor({taps, 1, C}, 3)};
  Tape tape;
  tape.backward(conv1d(x, tape(w), {.groups = C}), g);
  for (const std::size_t c : {0, 63}) {
    for (std::size_t k = 0; k < taps; ++k) {
      double sum = 0;
      for (std::size_t t = 0; t + taps <= T; ++t)
        sum += double(g(0, t, c)) * double(x(0, t + k, c));
      EXPECT_NEAR(w.gradient()(k, 0, c), sum, 300 * tolerance);
    }
  }
}

TEST(Conv, NamesShapesInErrors) {
  EXPECT_EQ(error_of([] {
              conv1d(zeros({2, 3}), zeros({3, 2, 2}));
            }),
            "[conv1d] x must be (B, T, C) and w (K, C / groups, E): x (2, 3), w (3, 2, 2)");
  EXPECT_EQ(error_of([] {
              conv1d(zeros({2, 3, 4}), zeros({3, 2, 2}));
            }),
            "[conv1d] w must be (.., C / groups, E) for x (.., C) and groups that divide C and E: "
            "x (2, 3, 4), w (3, 2, 2), groups 1");
  EXPECT_EQ(error_of([] {
              max_pool(zeros({2, 3, 4}), {2, 1, 2});
            }),
            "[max_pool] needs size >= 1 and padding below it: size 2, padding 2");
}

TEST(Pooling, TakesTheLargestAndTheMeanOfEachWindow) {
  Tensor x = zeros({1, 5, 1});
  std::copy_n(std::array<real, 5>{3, -1, -4, -2, 7}.data(), 5, x.data());
  const auto values = [](const Var& y) {
    return std::vector<real>(y.value().begin(), y.value().end());
  };
  EXPECT_EQ(values(max_pool(x)), (std::vector<real>{3, -2}));
  EXPECT_EQ(values(mean_pool(x)), (std::vector<real>{1, -3}));
  EXPECT_EQ(values(max_pool(x, {3, 2, 1})), (std::vector<real>{3, -1, 7}));
  EXPECT_EQ(values(mean_pool(x, {2, 3, 1})), (std::vector<real>{3, -3}));
}

/// Ties give the gradient to the first; positions beyond the edge are absent, not zero.
TEST(Pooling, GivesTheGradientToTheLargest) {
  const Tensor x = filled({1, 4, 1}, -1);
  Tape tape;
  const Var in = tape.input(x);
  const Var y = max_pool(in, {3, 1, 1});
  EXPECT_EQ(y.value(), filled({1, 4, 1}, -1));
  tape.backward(y, filled({1, 4, 1}, 1));
  const Tensor g = gradient_of(in);
  EXPECT_EQ(std::vector<real>(g.begin(), g.end()), (std::vector<real>{2, 1, 1, 0}));
}

TEST(Pooling, ShowsNotANumber) {
  Tensor x = zeros({1, 2, 2});
  x.data()[2] = std::numeric_limits<real>::quiet_NaN();
  const Tensor y = max_pool(x).value();
  EXPECT_TRUE(std::isnan(y.data()[0]));
  EXPECT_EQ(y.data()[1], real(0));
}

}  // namespace conv_test
}  // namespace bochner::inline BOCHNER_PRECISION
