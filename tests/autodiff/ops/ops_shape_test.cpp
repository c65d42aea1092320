#include <algorithm>
#include <array>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/shape.hpp>

#include "autodiff/op_check.hpp"
#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_shape_test {

using Inputs = std::vector<Var>;
using op_check::error_of;

OpRow row(const char* op, const char* variant, std::function<Var(const Inputs&)> f,
          std::vector<Shapes> shapes) {
  return {op, variant, [f](Tape&, const Inputs& x) { return f(x); }, std::move(shapes)};
}

OpRow transpose_row(const char* variant, std::vector<int> order, std::vector<Shapes> shapes) {
  return row(
      "transpose", variant, [order](const Inputs& x) { return transpose(x[0], order); }, shapes);
}

OpRow slice_row(const char* variant, int axis, std::size_t begin, std::size_t end) {
  return row("slice", variant, [=](const Inputs& x) { return slice(x[0], axis, begin, end); },
             {{{4, 3, 5}}, {{3, 3, 3}}, {{67, 3, 203}}});
}

/// Returns indices with repetitions into a table of V rows.
Indices some_indices(const Shape& shape, std::size_t V) {
  Indices indices{shape, std::vector<std::int32_t>(element_count(shape))};
  for (std::size_t i = 0; i < indices.values.size(); ++i) {
    indices.values[i] = std::int32_t(i * i * 5 % V);
  }
  return indices;
}

OpRow gather_row(const char* variant, const Shape& shape) {
  return row("gather", variant,
             [shape](const Inputs& x) { return gather(x[0], some_indices(shape, x[0].dim(0))); },
             {{{6, 5}}, {{1, 1}}, {{7, 37}}, {{4, 0}}});
}

Shape doubled(const Shape& shape) {
  Shape result{2};
  for (std::size_t size : shape) result.push_back(size);
  return result;
}

/// Overlapping, adjacent, and separate pieces with a remainder at the beginning.
OpRow patches_row(const char* variant, std::size_t length, std::size_t stride) {
  return row("patches", variant, [=](const Inputs& x) { return patches(x[0], length, stride); },
             {{{4, 3, 5}}, {{5}}, {{0, 3, 5}}, {{67, 3, 203}}});
}

std::vector<OpRow> rows() {
  const std::vector<Shapes> cubes = {{{4, 3, 5}}, {{1, 3, 1}}, {{0, 3, 2}}, {{67, 3, 203}}};
  const std::vector<Shapes> triples = {{{4, 3, 5}, {4, 3, 5}, {4, 3, 5}},
                                       {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
                                       {{0, 3, 2}, {0, 3, 2}, {0, 3, 2}},
                                       {{67, 3, 203}, {67, 3, 203}, {67, 3, 203}}};
  const auto concat_on = [](int axis) {
    return [axis](const Inputs& x) { return concat(x, axis); };
  };
  const auto pad_on = [](int axis) {
    return [axis](const Inputs& x) { return pad(x[0], axis, 2, 1, real(0.5)); };
  };
  return {
      row(
          "reshape", "",
          [](const Inputs& x) {
            return reshape(x[0], {x[0].size(), 1});
          },
          unary_shapes()),
      row("reshape", "Regroup",
          [](const Inputs& x) {
            return reshape(x[0], {3, 2, 10});
          },
          {{{4, 3, 5}}, {{60}}}),
      transpose_row("", {2, 1, 0}, cubes),
      transpose_row("Identity", {0, 1, 2}, cubes),
      transpose_row("LastTwo", {0, -1, -2}, cubes),
      transpose_row("FirstTwo", {1, 0, 2}, cubes),
      transpose_row("Cycle", {1, 2, 0}, cubes),
      transpose_row("Heads", {0, 2, 1, 3}, {{{2, 3, 4, 5}}, {{2, 65, 7, 67}}}),
      transpose_row("FourAxes", {3, 1, 0, 2}, {{{2, 3, 4, 5}}, {{5, 33, 17, 19}}}),
      slice_row("", -1, 1, 3),
      slice_row("First", 0, 1, 3),
      slice_row("Middle", 1, 0, 2),
      slice_row("Nothing", 1, 2, 2),
      slice_row("All", 1, 0, 3),
      row("concat", "", concat_on(-1), triples),
      row("concat", "First", concat_on(0), triples),
      row("concat", "Unequal", concat_on(1), {{{2, 3, 4}, {2, 1, 4}}, {{2, 0, 4}, {2, 3, 4}}}),
      row(
          "stack", "", [](const Inputs& x) { return stack(x, -1); }, triples),
      row(
          "stack", "First", [](const Inputs& x) { return stack(x, 0); }, triples),
      row(
          "stack", "Middle", [](const Inputs& x) { return stack(x, 1); }, triples),
      row(
          "split", "",
          [](const Inputs& x) {
            const std::vector<Var> parts = split(x[0], 1, {1, 0, x[0].dim(1) - 1});
            return concat({parts[2], 2 * parts[0], parts[1]}, 1);
          },
          cubes),
      row("pad", "", pad_on(-1), cubes),
      row("pad", "First", pad_on(0), cubes),
      row("pad", "Middle", pad_on(1), cubes),
      patches_row("", 3, 1),
      patches_row("Touching", 2, 2),
      patches_row("Apart", 1, 3),
      patches_row("All", 5, 4),
      gather_row("", {2, 6}),
      gather_row("One", {}),
      gather_row("Nothing", {0, 2}),
      row("broadcast_to", "",
          [](const Inputs& x) {
            return broadcast_to(x[0], {4, 3, 5});
          },
          {{{4, 3, 5}}, {{5}}, {{3, 1}}, {{}}, {{1}}, {{4, 1, 5}}, {{1, 3, 1}}}),
      row(
          "broadcast_to", "NewAxis",
          [](const Inputs& x) { return broadcast_to(x[0], doubled(x[0].shape())); },
          unary_shapes()),
  };
}

INSTANTIATE_TEST_SUITE_P(Shape, OpTest, ::testing::ValuesIn(rows()), test_name);

Tensor counting(const Shape& shape) {
  Tensor x = uninitialized(shape);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = real(i);
  return x;
}

TEST(Transpose, PutsEveryElementInItsPlace) {
  const Shape shape{3, 17, 2, 35};
  const Tensor x = counting(shape);
  std::vector<int> order{0, 1, 2, 3};
  do {
    const Var y = transpose(Var(x), order);
    for (std::size_t i = 0; i < 4; ++i) {
      ASSERT_EQ(y.shape()[i], shape[std::size_t(order[i])]);
    }
    std::array<std::size_t, 4> at{};
    for (at[0] = 0; at[0] < shape[0]; ++at[0])
      for (at[1] = 0; at[1] < shape[1]; ++at[1])
        for (at[2] = 0; at[2] < shape[2]; ++at[2])
          for (at[3] = 0; at[3] < shape[3]; ++at[3])
            ASSERT_EQ(y.value()(at[order[0]], at[order[1]], at[order[2]], at[order[3]]),
                      x(at[0], at[1], at[2], at[3]));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Shape, ValuesAreWhereTheyShouldBe) {
  const Var x(counting({2, 3}));
  EXPECT_EQ(slice(x, 1, 1, 3).value(), (Tensor{{1, 2}, {4, 5}}));
  EXPECT_EQ(slice(x, 0, 1, 2).value(), (Tensor{{3, 4, 5}}));
  EXPECT_EQ(concat({x, slice(x, 1, 0, 1)}, 1).value(), (Tensor{{0, 1, 2, 0}, {3, 4, 5, 3}}));
  EXPECT_EQ(concat({x, x}, 0).value(), (Tensor{{0, 1, 2}, {3, 4, 5}, {0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(stack({x, 10 * x}, 1).value(),
            (Tensor{{{0, 1, 2}, {0, 10, 20}}, {{3, 4, 5}, {30, 40, 50}}}));
  EXPECT_EQ(stack({x, x}, 2).shape(), (Shape{2, 3, 2}));
  EXPECT_EQ(split(x, 1, {1, 2})[1].value(), (Tensor{{1, 2}, {4, 5}}));
  EXPECT_EQ(pad(x, -1, 1, 2, 9).value(), (Tensor{{9, 0, 1, 2, 9, 9}, {9, 3, 4, 5, 9, 9}}));
  EXPECT_EQ(patches(x, 2, 1).value(), (Tensor{{{0, 1}, {1, 2}}, {{3, 4}, {4, 5}}}));
  EXPECT_EQ(reshape(patches(x, 1, 2), {2, 2}).value(), (Tensor{{0, 2}, {3, 5}}));
  EXPECT_EQ(patches(x, 2, 2).value(), (Tensor{{{1, 2}}, {{4, 5}}}));
  EXPECT_EQ(gather(x, {{3}, {1, 0, 1}}).value(), (Tensor{{3, 4, 5}, {0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(reshape(x, {3, 2}).value(), (Tensor{{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_EQ(broadcast_to(slice(x, 1, 0, 1), {2, 2}).value(), (Tensor{{0, 0}, {3, 3}}));
}

TEST(Shape, GatherAddsGradientsOfRepeatedRows) {
  Tape tape;
  const Var table = tape.input(counting({3, 2}));
  tape.backward(gather(table, {{4}, {2, 0, 2, 2}}), filled({4, 2}, 1));
  EXPECT_EQ(gradient_of(table), (Tensor{{1, 1}, {0, 0}, {3, 3}}));
}

TEST(Shape, ErrorsNameBothShapes) {
  const Var x(counting({2, 3}));
  EXPECT_EQ(error_of([&] {
              reshape(x, {4, 2});
            }),
            "[reshape] sizes differ: x (2, 3), shape (4, 2)");
  EXPECT_EQ(error_of([&] {
              concat({x, Var(counting({2, 2}))}, 0);
            }),
            "[concat] shapes differ outside axis 0: (2, 3), (2, 2)");
  EXPECT_EQ(error_of([&] {
              stack({x, Var(counting({2, 2}))}, 0);
            }),
            "[stack] shapes differ: (2, 3), (2, 2)");
  EXPECT_EQ(error_of([&] {
              split(x, 1, {1, 1});
            }),
            "[split] sizes add up to 2, axis 1 of x (2, 3) has 3");
  EXPECT_EQ(error_of([&] { broadcast_to(x, {3}); }),
            "[broadcast_to] x does not broadcast to the shape: x (2, 3), shape (3)");
  EXPECT_EQ(error_of([&] { slice(x, 1, 2, 4); }),
            "[slice] no elements 2 to 4 on axis 1 of x (2, 3)");
  EXPECT_EQ(error_of([&] {
              gather(x, {{1}, {2}});
            }),
            "[gather] index 2 is not a row of the table (2, 3)");
  EXPECT_EQ(error_of([&] {
              gather(x, {{1}, {-1}});
            }),
            "[gather] index -1 is not a row of the table (2, 3)");
  EXPECT_EQ(error_of([&] { patches(x, 4, 1); }),
            "[patches] no windows of length 4 and stride 1 in x (2, 3)");
  EXPECT_EQ(error_of([&] { transpose(x, {0, 0}); }), "[transpose] axis 0 is repeated");
  EXPECT_EQ(error_of([&] { transpose(x, {0}); }), "[transpose] an order of 1 axes for x (2, 3)");
}

}  // namespace ops_shape_test
}  // namespace bochner::inline BOCHNER_PRECISION
