/// Ops with fused normalisation against the ops they are composed of.

#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/feed_forward.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/normed_affines.hpp>
#include <bochner/autodiff/ops/shape.hpp>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace normed_rows_test {

using namespace op_check;
using Inputs = std::vector<Var>;

/// One by one, in blocks with a short last one, and in several tiles.
const std::size_t rows[] = {1, 40, 128, 900};

RowNorm norm_of(const Inputs& x, bool centred) {
  return {x[1], centred ? x[2] : Var(), real(1e-5)};
}

void expect_same(const Op& fused, const Op& composed, const std::vector<Tensor>& inputs) {
  const auto found = value_and_gradients(fused, inputs);
  const auto expected = value_and_gradients(composed, inputs);
  ASSERT_EQ(found.size(), expected.size());
  expect_near(found[0], expected[0], 20 * tolerance);
  for (std::size_t i = 1; i < found.size(); ++i) {
    SCOPED_TRACE("gradient of input " + std::to_string(i - 1));
    expect_near(found[i], expected[i], 200 * tolerance);
  }
}

TEST(FeedForward, EqualsTheOpsThatItIsMadeOf) {
  for (const std::size_t n : rows) {
    for (const bool centred : {true, false}) {
      SCOPED_TRACE(n);
      const std::vector<Tensor> inputs{random_tensor({n, 60}, 1), random_tensor({60}, 2),
                                       random_tensor({60}, 3),    random_tensor({60, 90}, 4),
                                       random_tensor({90}, 5),    random_tensor({90, 60}, 6),
                                       random_tensor({60}, 7)};
      const auto fused = [&](Tape&, const Inputs& x) {
        return feed_forward(x[0], norm_of(x, centred), {x[3], x[4], x[5], x[6]}, true);
      };
      const auto composed = [&](Tape&, const Inputs& x) {
        return x[0] + affine(affine_gelu(norm_of(x, centred).apply(x[0]), x[3], x[4]), x[5], x[6]);
      };
      expect_same(fused, composed, inputs);
      const std::vector<Var> constants(inputs.begin(), inputs.end());
      Tape tape;
      EXPECT_TRUE(same_bits(fused(tape, constants).value(), value_and_gradients(fused, inputs)[0]))
          << "with and without a tape";
    }
  }
}

TEST(NormedAffines, EqualTheOpsThatTheyAreMadeOf) {
  for (const std::size_t n : rows) {
    for (const bool centred : {true, false}) {
      SCOPED_TRACE(n);
      const std::vector<Tensor> inputs{random_tensor({n, 60}, 1), random_tensor({60}, 2),
                                       random_tensor({60}, 3),    random_tensor({60, 70}, 4),
                                       random_tensor({70}, 5),    random_tensor({60, 70}, 6),
                                       random_tensor({70}, 7)};
      const Shape shape{n, 7, 10};
      const auto fused = [&](Tape&, const Inputs& x) {
        const std::vector<Var> y =
            normed_affines(x[0], norm_of(x, centred), {{x[3], x[4]}, {x[5], x[6]}}, shape);
        return concat({y[0] * y[1], y[1]}, 2);
      };
      const auto composed = [&](Tape&, const Inputs& x) {
        const Var all = norm_of(x, centred).apply(x[0]);
        const Var first = affine(all, x[3], x[4], shape), second = affine(all, x[5], x[6], shape);
        return concat({first * second, second}, 2);
      };
      expect_same(fused, composed, inputs);
    }
  }
}

/// The output processed last propagates all gradients, even without one of its own.
TEST(NormedAffines, MayHaveOutputsThatNobodyReads) {
  const std::vector<Tensor> inputs{random_tensor({300, 60}, 1), random_tensor({60}, 2),
                                   random_tensor({60}, 3),      random_tensor({60, 70}, 4),
                                   random_tensor({70}, 5),      random_tensor({60, 70}, 6),
                                   random_tensor({70}, 7)};
  for (const std::size_t read : {0, 1}) {
    const auto fused = [&](Tape&, const Inputs& x) {
      return normed_affines(x[0], norm_of(x, true), {{x[3], x[4]}, {x[5], x[6]}}, {300, 70})[read];
    };
    const auto composed = [&](Tape&, const Inputs& x) {
      return affine(norm_of(x, true).apply(x[0]), x[3 + 2 * read], x[4 + 2 * read]);
    };
    expect_same(fused, composed, inputs);
  }
}

TEST(NormedAffines, AddToAGradientThatIsThere) {
  const std::vector<Tensor> inputs{random_tensor({300, 60}, 1), random_tensor({60}, 2),
                                   random_tensor({60}, 3), random_tensor({60, 60}, 4),
                                   random_tensor({60}, 5)};
  const auto fused = [&](Tape&, const Inputs& x) {
    return normed_affines(x[0], norm_of(x, true), {{x[3], x[4]}}, {300, 60})[0] * x[0];
  };
  const auto composed = [&](Tape&, const Inputs& x) {
    return affine(norm_of(x, true).apply(x[0]), x[3], x[4]) * x[0];
  };
  expect_same(fused, composed, inputs);
}

/// Constant inputs do not change the gradients of the others.
TEST(FeedForward, NeedsNoGradientOfEveryInput) {
  const std::vector<Tensor> values{random_tensor({300, 60}, 1), random_tensor({60}, 2),
                                   random_tensor({60}, 3),      random_tensor({60, 90}, 4),
                                   random_tensor({90}, 5),      random_tensor({90, 60}, 6),
                                   random_tensor({60}, 7)};
  const auto apply = [](const Inputs& x) {
    return feed_forward(x[0], norm_of(x, true), {x[3], x[4], x[5], x[6]}, true);
  };
  const auto all = value_and_gradients([&](Tape&, const Inputs& x) { return apply(x); }, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto one = value_and_gradients(
        [&](Tape&, const Inputs& x) {
          Inputs inputs(values.begin(), values.end());
          inputs[i] = x[0];
          return apply(inputs);
        },
        {values[i]});
    expect_equal_bits(one[1], all[1 + i]);
  }
}

TEST(NormedRows, NameShapesInErrors) {
  const RowNorm norm{filled({3}, 1), zeros({3}), real(1e-5)};
  EXPECT_EQ(
      error_of([&] {
        feed_forward(zeros({2, 4}), norm, {zeros({4, 5}), zeros({5}), zeros({5, 4}), zeros({4})});
      }),
      "[feed_forward] gain and bias must be (D) for x (.., D): x (2, 4), gain (3), bias (3)");
  EXPECT_EQ(
      error_of([&] {
        feed_forward(zeros({2, 3}), norm, {zeros({3, 5}), zeros({5}), zeros({4, 3}), zeros({3})});
      }),
      "[feed_forward] weights must be (D, H), (H), (H, D), (D) for x (.., D): x (2, 3), "
      "weights (3, 5), (5), (4, 3), (3)");
  EXPECT_EQ(error_of([&] {
              normed_affines(zeros({2, 3}), norm, {{zeros({3, 5}), zeros({5})}}, {2, 4});
            }),
            "[normed_affines] maps must be (D, E), (E) from x (.., D) to (2, 4): x (2, 3), w (3, "
            "5), bias (5)");
  EXPECT_EQ(error_of([&] {
              normed_affines(zeros({2, 3}), norm, {}, {2, 5});
            }),
            "[normed_affines] needs at least one map");
}

}  // namespace normed_rows_test
}  // namespace bochner::inline BOCHNER_PRECISION
