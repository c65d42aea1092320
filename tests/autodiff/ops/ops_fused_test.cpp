#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/feed_forward.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/autodiff/ops/normed_affines.hpp>
#include <bochner/autodiff/ops/shape.hpp>

#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_fused_test {

using Inputs = std::vector<Var>;

OpRow row(const char* op, const char* variant, std::function<Var(const Inputs&)> f,
          std::vector<Shapes> shapes, Domain domain = {}) {
  return {op, variant, [f](Tape&, const Inputs& x) { return f(x); }, std::move(shapes), domain};
}

/// Returns shapes of (M, K) and (K, N) with all kinds of batches, transposed if wanted.
std::vector<Shapes> product_shapes(bool transpose_a, bool transpose_b) {
  std::vector<Shapes> all = {
      {{4, 3}, {3, 5}},          {{3, 3}, {3, 3}},        {{1, 1}, {1, 1}},
      {{2, 4, 3}, {3, 5}},       {{4, 3}, {2, 3, 5}},     {{2, 4, 3}, {2, 3, 5}},
      {{2, 1, 4, 3}, {3, 3, 5}}, {{1, 4, 3}, {2, 3, 5}},  {{2, 3, 4, 3}, {3, 3, 5}},
      {{0, 3}, {3, 5}},          {{4, 0}, {0, 5}},        {{0, 4, 3}, {3, 5}},
      {{701, 65}, {65, 33}},     {{3, 201, 33}, {33, 65}}};
  const auto swap_last = [](Shape& shape) {
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  };
  for (Shapes& shapes : all) {
    if (transpose_a) swap_last(shapes[0]);
    if (transpose_b) swap_last(shapes[1]);
  }
  return all;
}

const std::vector<Shapes> last_axis_shapes = {{{4, 3, 5}}, {{7}},     {{1, 1}},    {{0, 3}},
                                              {{3, 0}},    {{2, 17}}, {{301, 201}}};

/// Adds `count` vectors on the last axis, a gain and a bias.
std::vector<Shapes> with_vectors(std::size_t count) {
  std::vector<Shapes> all = last_axis_shapes;
  for (Shapes& shapes : all) {
    for (std::size_t i = 0; i < count; ++i) shapes.push_back({shapes[0].back()});
  }
  return all;
}

/// Returns labels for logits (.., V); every fourth one is `ignore`.
Indices labels_for(const Var& logits, std::int32_t ignore) {
  Indices labels;
  for (std::size_t axis = 0; axis + 1 < logits.rank(); ++axis) {
    labels.shape.push_back(logits.shape()[axis]);
  }
  const std::size_t V = logits.dim(-1);
  for (std::size_t i = 0; i < element_count(labels.shape); ++i) {
    labels.values.push_back(i % 4 == 3 ? ignore : std::int32_t(i * i % V));
  }
  return labels;
}

OpRow cross_entropy_row(const char* variant, real smoothing, std::int32_t ignore) {
  return row("cross_entropy", variant,
             [=](const Inputs& x) {
               return cross_entropy(x[0], labels_for(x[0], ignore), smoothing, ignore);
             },
             {{{4, 3, 5}}, {{7}}, {{6, 2}}, {{301, 201}}});
}

OpRow affine_cross_entropy_row(const char* variant, real smoothing, std::int32_t ignore) {
  const auto f = [=](const Inputs& x) {
    const Indices labels = labels_for(affine(x[0], x[1], x[2]), ignore);
    return affine_cross_entropy(x[0], x[1], x[2], labels, smoothing, ignore);
  };
  return row("affine_cross_entropy", variant, f,
             {{{2, 3, 4}, {4, 5}, {5}}, {{3}, {3, 5}, {5}}, {{2, 90, 3}, {3, 70}, {70}}});
}

/// Returns a row of a loss with fixed targets of the shape of its argument.
OpRow loss_row(const char* op, std::function<Var(const Var&, const Tensor&)> loss, Domain inputs,
               Domain targets) {
  return row(
      op, "", [=](const Inputs& x) { return loss(x[0], values_in(targets, x[0].shape(), 1)); },
      {{{4, 3, 5}}, {{}}, {{1, 1}}, {{40001}}}, inputs);
}

/// Uses targets at the kinks of its domain, which arguments avoid.
OpRow pinball_row() {
  const auto f = [](const Inputs& x) {
    Shape shape = x[0].shape();
    shape.pop_back();
    Tensor targets = uninitialized(shape);
    for (std::size_t i = 0; i < targets.size(); ++i)
      targets.data()[i] = i % 2 == 0 ? real(0.5) : real(-0.5);
    return pinball(x[0], targets, {0.1, 0.5, 0.9});
  };
  return row("pinball", "", f, {{{4, 2, 3}}, {{3}}, {{1, 3}}, {{0, 3}}, {{20001, 3}}},
             Domain{.kinks = {-0.5, 0.5}});
}

const std::vector<Shapes> affine_shapes = {
    {{4, 3}, {3, 5}, {5}},       {{2, 4, 3}, {3, 5}, {5}},    {{3}, {3, 5}, {5}},
    {{1, 1}, {1, 1}, {1}},       {{0, 3}, {3, 5}, {5}},       {{5, 0}, {0, 3}, {3}},
    {{701, 65}, {65, 33}, {33}}, {{40, 21}, {21, 150}, {150}}};

const std::vector<Shapes> feed_forward_shapes = {
    {{4, 3}, {3}, {3}, {3, 5}, {5}, {5, 3}, {3}},
    {{2, 3, 4}, {4}, {4}, {4, 2}, {2}, {2, 4}, {4}},
    {{3}, {3}, {3}, {3, 5}, {5}, {5, 3}, {3}},
    {{0, 3}, {3}, {3}, {3, 5}, {5}, {5, 3}, {3}},
    {{701, 33}, {33}, {33}, {33, 65}, {65}, {65, 33}, {33}}};

/// Removes input `input`.
std::vector<Shapes> without(std::vector<Shapes> all, std::size_t input) {
  for (Shapes& shapes : all) shapes.erase(shapes.begin() + std::ptrdiff_t(input));
  return all;
}

std::vector<OpRow> rows() {
  const Domain lattice{.distinct = true};
  return {
      row(
          "matmul", "", [](const Inputs& x) { return matmul(x[0], x[1]); },
          product_shapes(false, false)),
      row(
          "matmul_nt", "", [](const Inputs& x) { return matmul_nt(x[0], x[1]); },
          product_shapes(false, true)),
      row(
          "matmul_tn", "", [](const Inputs& x) { return matmul_tn(x[0], x[1]); },
          product_shapes(true, false)),
      row(
          "affine", "", [](const Inputs& x) { return affine(x[0], x[1], x[2]); }, affine_shapes),
      row("affine", "Reshaped",
          [](const Inputs& x) {
            return affine(x[0], x[1], x[2], {2, 3, 5});
          },
          {{{3, 2, 2, 2}, {4, 5}, {5}}, {{6, 3}, {3, 5}, {5}}}),
      row("affine_add", "", [](const Inputs& x) { return affine_add(x[0], x[1], x[2], x[3]); },
          {{{4, 5}, {4, 3}, {3, 5}, {5}},
           {{2, 3, 5}, {3, 2, 2, 2}, {4, 5}, {5}},
           {{5}, {3}, {3, 5}, {5}},
           {{0, 5}, {0, 3}, {3, 5}, {5}},
           {{701, 33}, {701, 65}, {65, 33}, {33}}}),
      row(
          "affine_gelu", "", [](const Inputs& x) { return affine_gelu(x[0], x[1], x[2]); },
          affine_shapes),
      row(
          "feed_forward", "",
          [](const Inputs& x) {
            return feed_forward(x[0], {x[1], x[2], real(1e-5)}, {x[3], x[4], x[5], x[6]});
          },
          feed_forward_shapes),
      row(
          "feed_forward", "RMSNorm",
          [](const Inputs& x) {
            return feed_forward(x[0], {x[1], Var(), real(1e-5)}, {x[2], x[3], x[4], x[5]});
          },
          without(feed_forward_shapes, 2)),
      row("normed_affines", "",
          [](const Inputs& x) {
            const std::size_t E = x[3].dim(1), D = std::max<std::size_t>(1, x[0].dim(-1));
            const std::vector<Var> y = normed_affines(
                x[0], {x[1], x[2], real(1e-5)}, {{x[3], x[4]}, {x[5], x[6]}}, {x[0].size() / D, E});
            return concat({y[1] * y[0], y[0]}, -1);
          },
          {{{4, 3}, {3}, {3}, {3, 5}, {5}, {3, 5}, {5}},
           {{2, 3, 4}, {4}, {4}, {4, 5}, {5}, {4, 5}, {5}},
           {{0, 3}, {3}, {3}, {3, 5}, {5}, {3, 5}, {5}},
           {{701, 65}, {65}, {65}, {65, 33}, {33}, {65, 33}, {33}}}),
      row("project_heads", "", [](const Inputs& x) { return project_heads(x[0], x[1]); },
          {{{4, 2, 3}, {2, 5, 3}},
           {{2, 3, 2, 4}, {2, 6, 4}},
           {{2, 3}, {2, 5, 3}},
           {{1, 1, 1}, {1, 1, 1}},
           {{0, 2, 3}, {2, 5, 3}},
           {{3, 2, 0}, {2, 5, 0}},
           {{1100, 2, 16}, {2, 16, 16}},
           {{301, 3, 33}, {3, 17, 33}}}),
      row(
          "layer_norm", "", [](const Inputs& x) { return layer_norm(x[0], x[1], x[2]); },
          with_vectors(2)),
      row(
          "rms_norm", "", [](const Inputs& x) { return rms_norm(x[0], x[1]); }, with_vectors(1)),
      row(
          "rms_norm", "LargeEpsilon",
          [](const Inputs& x) { return rms_norm(x[0], x[1], real(0.1)); }, with_vectors(1)),
      row(
          "softmax", "", [](const Inputs& x) { return softmax(x[0]); }, last_axis_shapes),
      row(
          "log_softmax", "", [](const Inputs& x) { return log_softmax(x[0]); }, last_axis_shapes),
      cross_entropy_row("", 0, -1),
      cross_entropy_row("Smoothed", real(0.2), -1),
      cross_entropy_row("OnlySmoothing", 1, -1),
      cross_entropy_row("IgnoredClass", real(0.1), 0),
      affine_cross_entropy_row("", 0, -1),
      affine_cross_entropy_row("Smoothed", real(0.2), -1),
      affine_cross_entropy_row("IgnoredClass", real(0.1), 0),
      loss_row("mean_squared_error", mean_squared_error, {}, {}),
      loss_row("mean_absolute_error", mean_absolute_error, lattice, lattice),
      loss_row(
          "huber", [](const Var& x, const Tensor& t) { return huber(x, t, real(0.5)); }, lattice,
          lattice),
      pinball_row(),
      {"dropout", "",
       [](Tape& tape, const Inputs& x) {
         tape.training = true;
         return dropout(tape, x[0], real(0.3));
       },
       unary_shapes()},
      {"dropout", "Evaluation",
       [](Tape& tape, const Inputs& x) { return dropout(tape, x[0], real(0.3)); }, unary_shapes()},
  };
}

INSTANTIATE_TEST_SUITE_P(Fused, OpTest, ::testing::ValuesIn(rows()), test_name);

}  // namespace ops_fused_test
}  // namespace bochner::inline BOCHNER_PRECISION
