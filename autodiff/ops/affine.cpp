#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/products.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <optional>
#include <tuple>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// (rows, D) to (rows, E), in tiles of rows that stay in cache from one use to the next.
struct Affine {
  const char* op;
  std::size_t rows, D, E;
  std::size_t tile() const { return std::max<std::size_t>(256, 4 * product_grain / (D * E + 1)); }
};

void require_factors(const char* op, const Var& x, const Var& w, const Var& bias) {
  require(x.rank() >= 1 && w.rank() == 2 && w.dim(0) == x.dim(-1), op,
          "w must be (D, E) for x (.., D): x ", x.shape(), ", w ", w.shape());
  require(bias.shape() == Shape{w.dim(1)}, op, "bias must be (E) for w (D, E): w ", w.shape(),
          ", bias ", bias.shape());
}

Affine make_affine(const char* op, const Shape& result, const Var& w) {
  const std::size_t D = w.dim(0), E = w.dim(1);
  return {op, E == 0 ? 0 : element_count(result) / E, D, E};
}

/// y = x w; finish(y, begin, count) completes those rows, the first of which is at y.
template <class Finish>
Tensor forward(const Affine& a, const Shape& result, const Var& x, const Var& w,
               const Finish& finish) {
  Tensor y = uninitialized(result);
  parallel_for(a.rows, a.tile(), [&](std::size_t begin, std::size_t end) {
    real* rows = y.data() + begin * a.E;
    gemm(end - begin, a.E, a.D, {x.data() + begin * a.D, a.D}, {w.data(), a.E}, 0, rows, a.E);
    finish(rows, begin, end - begin);
  });
  return y;
}

/// All gradients of a tile of rows while it is in cache; prepare(g, begin, count) first makes of
/// its rows of g what arrives at x w + bias.
template <class Prepare>
void backward(const Affine& a, const Var& x, const Var& w, const Var& bias, Tensor& g,
              const Prepare& prepare) {
  const auto [op, rows, D, E] = a;
  const std::size_t tile = std::min(a.tile(), rows),
                    tiles = rows == 0 ? 0 : (rows + tile - 1) / tile;
  std::optional<GradientTarget> dx;
  if (x.needs_gradient()) dx.emplace(x);
  Storage flipped(dx ? D * E : 0);
  if (dx) transpose_matrix(D, E, w.data(), E, flipped.data(), D);
  Tensor sums = zeros({tiles, E});
  const auto tile_of = [&](std::size_t index) {
    const std::size_t begin = index * tile, count = std::min(tile, rows - begin);
    real* from = g.data() + begin * E;
    prepare(from, begin, count);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < E; ++j) sums.data()[index * E + j] += from[i * E + j];
    }
    if (dx) gemm(count, D, E, {from, E}, {flipped.data(), D}, dx->beta, dx->data + begin * D, D);
    return std::tuple(begin, count, from);
  };
  if (w.needs_gradient()) {
    Tensor dw = zeros({D, E});
    accumulate_products(
        {1, tiles, D, E, tile, dw.data(), 0, E},
        [&](std::size_t, std::size_t index, real beta, real* sum, std::size_t ld) {
          const auto [begin, count, from] = tile_of(index);
          gemm(D, E, count, {x.data() + begin * D, D, transposed}, {from, E}, beta, sum, ld);
        });
    w.add_gradient(std::move(dw));
  } else {
    parallel_tasks(tiles, tile_of);
  }
  bias.add_gradient(sum_to_shape(sums, {E}));
}

void add_to_rows(const real* __restrict bias, std::size_t E, std::size_t rows, real* __restrict y) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < E; ++j) y[i * E + j] += bias[j];
  }
}

/// y = gelu(y) and its slope.
void apply_gelu(real* __restrict y, real* __restrict slope, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    real distribution, density;
    math::normal(y[i], &distribution, &density);
    slope[i] = distribution + y[i] * density;
    y[i] *= distribution;
  }
}

}  // namespace

Var affine(const Var& x, const Var& w, const Var& bias) {
  require_factors("affine", x, w, bias);
  return affine(x, w, bias, with_last(x.shape(), w.dim(1)));
}

Var affine(const Var& x, const Var& w, const Var& bias, const Shape& shape) {
  require(w.rank() == 2 && bias.shape() == Shape{w.dim(1)} &&
              x.size() * w.dim(1) == element_count(shape) * w.dim(0),
          "affine", "no rows of (D, E) lead from x ", x.shape(), " to ", shape, ": w ", w.shape(),
          ", bias ", bias.shape());
  const Affine a = make_affine("affine", shape, w);
  const auto add_bias = [&](real* y, std::size_t, std::size_t count) {
    add_to_rows(bias.data(), a.E, count, y);
  };
  return record(a.op, forward(a, shape, x, w, add_bias), {x, w, bias},
                [a, x, w, bias = bias.gradient_only()](Tensor& g) {
                  backward(a, x, w, bias, g, [](real*, std::size_t, std::size_t) {});
                });
}

Var affine_gelu(const Var& x, const Var& w, const Var& bias) {
  require_factors("affine_gelu", x, w, bias);
  const Shape shape = with_last(x.shape(), w.dim(1));
  const Affine a = make_affine("affine_gelu", shape, w);
  const bool wanted = x.needs_gradient() || w.needs_gradient() || bias.needs_gradient();
  Storage slopes(wanted ? a.rows * a.E : 0);
  const auto activate = [&](real* y, std::size_t begin, std::size_t count) {
    add_to_rows(bias.data(), a.E, count, y);
    if (wanted) {
      apply_gelu(y, slopes.data() + begin * a.E, count * a.E);
    } else {
      for (std::size_t i = 0; i < count * a.E; ++i) y[i] *= math::normal_cdf(y[i]);
    }
  };
  Tensor y = forward(a, shape, x, w, activate);
  return record(a.op, std::move(y), {x, w, bias},
                [a, x, w, bias = bias.gradient_only(), slopes = std::move(slopes)](Tensor& g) {
                  const auto multiply = [&](real* rows, std::size_t begin, std::size_t count) {
                    const real* slope = slopes.data() + begin * a.E;
                    for (std::size_t i = 0; i < count * a.E; ++i) rows[i] *= slope[i];
                  };
                  backward(a, x, w, bias, g, multiply);
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
