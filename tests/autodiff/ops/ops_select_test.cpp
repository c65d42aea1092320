#include <bochner/autodiff/ops/einsum.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/select.hpp>
#include <bochner/autodiff/ops/solve.hpp>
#include <cmath>

#include "autodiff/op_check.hpp"
#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_select_test {

using Inputs = std::vector<Var>;
using op_check::error_of;

OpRow row(const char* op, const char* variant, std::function<Var(const Inputs&)> f,
          std::vector<Shapes> shapes, Domain domain = {}) {
  return {op, variant, [f](Tape&, const Inputs& x) { return f(x); }, std::move(shapes), domain};
}

/// Returns indices below n of a shape, with repetitions.
Indices some_indices(Shape shape, std::size_t axis, std::size_t count, std::size_t n) {
  shape[axis] = count;
  Indices indices{shape, std::vector<std::int32_t>(element_count(shape))};
  for (std::size_t i = 0; i < indices.values.size(); ++i)
    indices.values[i] = std::int32_t(i * i * 5 % n);
  return indices;
}

OpRow gather_row(const char* variant, int axis) {
  const auto f = [axis](const Inputs& x) {
    const std::size_t index = normalize_axis("test", axis, x[0].rank());
    return gather_along(x[0], axis, some_indices(x[0].shape(), index, 4, x[0].dim(axis)));
  };
  return row("gather_along", variant, f, {{{4, 3, 5}}, {{1, 3, 1}}, {{67, 3, 203}}});
}

OpRow scatter_row(const char* variant, int axis) {
  const auto f = [axis](const Inputs& x) {
    const std::size_t index = normalize_axis("test", axis, x[0].rank());
    const Indices places = some_indices(x[1].shape(), index, x[1].shape()[index], x[0].dim(axis));
    return scatter_add_along(x[0], axis, places, x[1]);
  };
  Shape longer{4, 3, 5};
  longer[normalize_axis("test", axis, 3)] = 7;
  return row("scatter_add_along", variant, f,
             {{{4, 3, 5}, longer}, {{4, 3, 5}, {4, 3, 5}}, {{67, 3, 203}, {67, 3, 203}}});
}

OpRow einsum_row(const char* variant, const char* pattern, const Shape& a, const Shape& b) {
  return row("einsum", variant, [=](const Inputs& x) { return einsum(pattern, x[0], x[1]); },
             {{a, b}});
}

/// Returns x x^T + 2, positive definite.
Var definite(const Var& x) {
  Tensor diagonal = zeros({x.dim(-2), x.dim(-2)});
  for (std::size_t i = 0; i < x.dim(-2); ++i) diagonal(i, i) = 2;
  return matmul_nt(x, x) + diagonal;
}

std::vector<OpRow> rows() {
  const std::vector<Shapes> cubes = {{{4, 3, 5}}, {{1, 3, 1}}, {{0, 3, 2}}, {{67, 3, 203}}};
  const Domain distinct{.distinct = true};
  return {
      row(
          "flip", "", [](const Inputs& x) { return flip(x[0], -1); }, cubes),
      row(
          "flip", "Middle", [](const Inputs& x) { return flip(x[0], 1); }, cubes),
      row(
          "roll", "", [](const Inputs& x) { return roll(x[0], -1, 2); }, cubes),
      row(
          "roll", "First", [](const Inputs& x) { return roll(x[0], 0, -9); }, cubes),
      gather_row("", -1),
      gather_row("First", 0),
      gather_row("Middle", 1),
      scatter_row("", -1),
      scatter_row("First", 0),
      row(
          "topk", "", [](const Inputs& x) { return topk(x[0], 3).values; },
          {{{4, 3, 5}}, {{3}}, {{0, 4}}, {{67, 603}}}, distinct),
      einsum_row("", "bthd,bshd->bhts", {2, 3, 2, 4}, {2, 5, 2, 4}),
      einsum_row("Values", "bhts,bshd->bthd", {2, 2, 3, 5}, {2, 5, 2, 4}),
      einsum_row("Weights", "btd,de->bte", {2, 3, 4}, {4, 5}),
      einsum_row("Transposed", "ki,kj->ij", {4, 3}, {4, 5}),
      einsum_row("BothTransposed", "ki,jk->ij", {4, 3}, {5, 4}),
      einsum_row("Inner", "ij,ij->", {3, 4}, {3, 4}),
      einsum_row("RowDots", "hd,thd->th", {2, 4}, {3, 2, 4}),
      einsum_row("Outer", "bi,bj->jbi", {2, 3}, {2, 4}),
      einsum_row("Lone", "ijk,lj->jl", {2, 3, 4}, {5, 3}),
      einsum_row("Nothing", "bi,ij->bj", {0, 3}, {3, 2}),
      row("linear_solve", "",
          [](const Inputs& x) { return linear_solve(definite(x[0]) + 0.3 * x[0], x[1]); },
          {{{3, 3}, {3, 2}}, {{2, 4, 4}, {4, 1}}, {{2, 2}, {3, 2, 2}}, {{0, 2, 2}, {2, 1}}}),
      row("cholesky_factor", "",
          [](const Inputs& x) { return cholesky_factor(definite(x[0]) + 0.3 * x[0]); },
          {{{1, 1}}, {{4, 4}}, {{2, 3, 3}}, {{0, 2, 2}}, {{12, 12}}}),
  };
}

INSTANTIATE_TEST_SUITE_P(Select, OpTest, ::testing::ValuesIn(rows()), test_name);

TEST(Select, ValuesAreThoseOfNumPy) {
  const Var x(Tensor{{0, 1, 2}, {3, 4, 5}});
  EXPECT_EQ(flip(x, 0).value(), (Tensor{{3, 4, 5}, {0, 1, 2}}));
  EXPECT_EQ(flip(x, 1).value(), (Tensor{{2, 1, 0}, {5, 4, 3}}));
  EXPECT_EQ(roll(x, 1, 1).value(), (Tensor{{2, 0, 1}, {5, 3, 4}}));
  EXPECT_EQ(roll(x, -1, -4).value(), (Tensor{{1, 2, 0}, {4, 5, 3}}));
  EXPECT_EQ(gather_along(x, 1, {{2, 2}, {2, 0, 1, 1}}).value(), (Tensor{{2, 0}, {4, 4}}));
  EXPECT_EQ(gather_along(x, 0, {{1, 3}, {1, 0, 1}}).value(), (Tensor{{3, 1, 5}}));
  EXPECT_EQ(scatter_add_along(x, 1, {{2, 2}, {0, 0, 2, 1}}, Var(Tensor{{1, 2}, {3, 4}})).value(),
            (Tensor{{3, 1, 2}, {3, 8, 8}}));
}

TEST(Select, TheLargestAreFirstOfEqualsAndNanAboveAll) {
  const Var x(Tensor{{1, 7, 7, 0}, {real(NAN), 2, real(INFINITY), real(NAN)}});
  const TopK top = topk(x, 3);
  EXPECT_EQ(top.indices.values, (std::vector<std::int32_t>{1, 2, 0, 0, 3, 2}));
  EXPECT_EQ(top.indices.shape, (Shape{2, 3}));
  EXPECT_EQ(top.values.value()(0, 2), 1);
  EXPECT_EQ(argmax(x).values, (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(argmax(x, 0).values, (std::vector<std::int32_t>{1, 0, 1, 1}));
  EXPECT_EQ(argmax(x, 0).shape, (Shape{4}));
}

TEST(Select, NoIndicesTakeNothing) {
  const Var x(Tensor{{0, 1, 2}, {3, 4, 5}});
  EXPECT_EQ(topk(x, 0).values.shape(), (Shape{2, 0}));
  EXPECT_EQ(gather_along(x, 0, {{0, 3}, {}}).shape(), (Shape{0, 3}));
  EXPECT_EQ(scatter_add_along(x, 1, {{2, 0}, {}}, Var(zeros({2, 0}))).value(), x.value());
}

TEST(Select, ErrorsNameIndicesAndShapes) {
  const Var x(zeros({2, 3}));
  EXPECT_EQ(error_of([&] {
              gather_along(x, 1, {{2, 1}, {0, 3}});
            }),
            "[gather_along] index 3 is not an element of axis 1 of x (2, 3)");
  EXPECT_EQ(error_of([&] {
              gather_along(x, 1, {{1, 1}, {0}});
            }),
            "[gather_along] indices (1, 1) of 1 values must have the sizes of x (2, 3) outside "
            "axis 1");
  EXPECT_EQ(error_of([&] {
              scatter_add_along(x, 1, {{2, 1}, {0, 0}}, x);
            }),
            "[scatter_add_along] updates (2, 3) must have the shape of the indices (2, 1)");
  EXPECT_EQ(error_of([&] { topk(x, 4); }), "[topk] no 4 elements on the last axis of x (2, 3)");
  EXPECT_EQ(error_of([&] {
              argmax(Var(zeros({2, 0})));
            }),
            "[argmax] needs at least one element: x (2, 0)");
}

/// Sums over all letters by loops.
TEST(Einsum, AgreesWithASumOverAllIndices) {
  const Tensor a = op_check::random_tensor({2, 3, 4}, 1), b = op_check::random_tensor({4, 2, 5}, 2);
  const Tensor y = einsum("bij, jbk -> kbi", a, b).value();
  ASSERT_EQ(y.shape(), (Shape{5, 2, 3}));
  for (std::size_t k = 0; k < 5; ++k)
    for (std::size_t e = 0; e < 6; ++e) {
      double sum = 0;
      for (std::size_t j = 0; j < 4; ++j)
        sum += double(a(e / 3, e % 3, j)) * double(b(j, e / 3, k));
      EXPECT_NEAR(y(k, e / 3, e % 3), sum, 1e-5);
    }
}

TEST(Einsum, RefusesWhatItCannotDo) {
  const auto error = [](const char* pattern, const Shape& a, const Shape& b) {
    return error_of([&] { einsum(pattern, Var(zeros(a)), Var(zeros(b))); });
  };
  EXPECT_EQ(error("ii,ij->j", {2, 2}, {2, 3}),
            "[einsum] \"ii,ij->j\" repeats index i in one array: traces are not supported");
  EXPECT_EQ(error("ij,jk->il", {2, 2}, {2, 3}),
            "[einsum] \"ij,jk->il\" has index l in its result only");
  EXPECT_EQ(error("ij,jk->ik", {2, 3}, {2, 3}), "[einsum] index j is 3 in a and 2 in b");
  EXPECT_EQ(error("ij,jk->ik", {2, 3, 1}, {2, 3}), "[einsum] 2 indices \"ij\" for a (2, 3, 1)");
  EXPECT_EQ(error("...j,jk->...k", {2, 3}, {3, 3}),
            "[einsum] cannot read \"...j,jk->...k\"; two arrays are written as \"ij,jk->ik\", a "
            "letter per axis");
  EXPECT_EQ(error("ij,jk", {2, 3}, {3, 3}),
            "[einsum] cannot read \"ij,jk\"; two arrays are written as \"ij,jk->ik\", a letter per "
            "axis");
}

TEST(LinearSolve, SolvesSystemsThatNeedPivots) {
  const Tensor a{{0, 2, 1}, {1, 0, 0}, {3, 1, 0}}, b{{5, 1}, {1, 2}, {5, 7}};
  op_check::expect_near(linear_solve(a, b).value(), Tensor{{1, 2}, {2, 1}, {1, -1}});
  EXPECT_EQ(error_of<std::domain_error>([&] {
              linear_solve(filled({2, 2}, 1), zeros({2, 1}));
            }),
            "[linear_solve] entry 0: the matrix is singular: pivot 2 of 2 is 0");
  EXPECT_EQ(error_of([&] {
              linear_solve(a, zeros({2, 1}));
            }),
            "[linear_solve] b must be (.., n, k) for a (.., n, n): a (3, 3), b (2, 1)");
}

TEST(CholeskyFactor, IsThatOfTheSymmetricPart) {
  const Tensor a{{4, 3}, {1, 10}}, l = cholesky_factor(a).value();
  op_check::expect_near(l, Tensor{{2, 0}, {1, 3}});
  EXPECT_THROW(cholesky_factor(filled({2, 2}, 1)), std::domain_error);
}

}  // namespace ops_select_test
}  // namespace bochner::inline BOCHNER_PRECISION
