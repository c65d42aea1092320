#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/packed_factor.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/row_blocks.hpp>
#include <optional>
#include <tuple>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// (rows, D) to (rows, E), in tiles of rows that stay in cache from one use to the next.
struct Affine {
  const char* op;
  std::size_t rows, D, E;
  /// Where rows need not be added up, threads can share the few of a token of each of many texts.
  std::size_t forward_tile() const {
    return std::max(worthwhile_rows(D, E), std::min<std::size_t>(rows / 8, 256));
  }
  /// Our own tiles share the columns of so few rows: each part of the weights is packed once.
  bool shares_columns() const {
    constexpr std::size_t fewest = 16;
    return has_own_products() && rows >= fewest && rows < fewest_rows_of_blocks;
  }
};

void require_factors(const char* op, const Var& x, const Var& w, const Var& bias) {
  require(x.rank() >= 1 && w.rank() == 2 && w.dim(0) == x.dim(-1), op,
          "w must be (D, E) for x (.., D): x ", x.shape(), ", w ", w.shape());
  require(bias.shape() == Shape{w.dim(1)}, op, "bias must be (E) for w (D, E): w ", w.shape(),
          ", bias ", bias.shape());
}

void require_rows(const char* op, const Var& x, const Var& w, const Var& bias, const Shape& shape) {
  require(w.rank() == 2 && bias.shape() == Shape{w.dim(1)} &&
              x.size() * w.dim(1) == element_count(shape) * w.dim(0),
          op, "no rows of (D, E) lead from x ", x.shape(), " to ", shape, ": w ", w.shape(),
          ", bias ", bias.shape());
}

Affine make_affine(const char* op, const Shape& result, const Var& w) {
  const std::size_t D = w.dim(0), E = w.dim(1);
  return {op, E == 0 ? 0 : element_count(result) / E, D, E};
}

/// As forward() below, where threads share the columns.
template <class Finish>
void multiply_columns(const Affine& a, const real* x, const real* w, real* y,
                      const Finish& finish) {
  constexpr std::size_t slice = 64, activations = 8192;
  parallel_for(a.E, slice, [&](std::size_t begin, std::size_t end) {
    gemm(a.rows, end - begin, a.D, {x, a.D}, {w + begin, a.E}, 0, y + begin, a.E);
  });
  parallel_for(
      a.rows, std::max<std::size_t>(1, activations / a.E),
      [&](std::size_t begin, std::size_t end) { finish(y + begin * a.E, begin, end - begin); });
}

/// y = x w; finish(y, begin, count) completes those rows, the first of which is at y. Where it
/// reads rows of `also`, they are fetched before.
template <class Finish>
Tensor forward(const Affine& a, const Shape& result, const Var& x, const Var& w,
               const Finish& finish, const real* also = nullptr) {
  Tensor y = uninitialized(result);
  if (a.shares_columns()) {
    multiply_columns(a, x.data(), w.data(), y.data(), finish);
    return y;
  }
  const PackedFactor weights(a.rows, a.E, a.D, {w.data(), a.E});
  parallel_for(a.rows, a.forward_tile(), [&](std::size_t begin, std::size_t end) {
    for_each_block(weights.block(), begin, end, a.rows, [&](const RowBlock& block) {
      real* rows = y.data() + block.begin * a.E;
      const real* from = x.data() + block.begin * a.D;
      const Upcoming next[] = {
          {from + block.count * a.D, block.following, a.D, a.D},
          {also ? also + block.begin * a.E : nullptr, also ? block.count : 0, a.E, a.E}};
      weights.multiply(block.count, from, a.D, 0, rows, a.E, next);
      finish(rows, block.begin, block.count);
    });
  });
  return y;
}

/// x^T g (D, E) of all tiles; tile_of(index) gives begin, number and gradients of its rows. Our own
/// products read the narrower factor from memory again and again: it is the left one.
template <class TileOf>
Tensor weight_gradient(const Affine& a, const real* x, std::size_t tiles, std::size_t tile,
                       const TileOf& tile_of) {
  const bool flips = has_own_products() && a.D > a.E;
  const std::size_t M = flips ? a.E : a.D, N = flips ? a.D : a.E;
  Tensor sum = zeros({M, N});
  accumulate_products(
      {1, tiles, M, N, tile, sum.data(), 0, N},
      [&](std::size_t, std::size_t index, real beta, real* c, std::size_t ldc) {
        const auto [begin, count, gradients] = tile_of(index);
        const real *inputs = x + begin * a.D, *left = flips ? gradients : inputs;
        gemm(M, N, count, {left, M, transposed}, {flips ? inputs : gradients, N}, beta, c, ldc);
      });
  if (!flips) return sum;
  Tensor result = uninitialized({a.D, a.E});
  transpose_matrix(M, N, sum.data(), N, result.data(), M);
  return result;
}

/// All gradients of a tile of rows while it is in cache; prepare(g, begin, count) first makes of
/// its rows of g what arrives at x w + bias.
template <class Prepare>
void backward(const Affine& a, const Var& x, const Var& w, const Var& bias, Tensor& g,
              const Prepare& prepare) {
  const auto [op, rows, D, E] = a;
  const std::size_t tile = std::min(gradient_tile(rows, D, E), rows),
                    tiles = rows == 0 ? 0 : (rows + tile - 1) / tile;
  std::optional<GradientTarget> dx;
  if (x.needs_gradient()) dx.emplace(x);
  const PackedFactor flipped(dx ? rows : 0, D, E, {w.data(), E, transposed});
  Tensor sums = zeros({tiles, E});
  const auto tile_of = [&](std::size_t index) {
    const std::size_t begin = index * tile, count = std::min(tile, rows - begin);
    for_each_block(flipped.block(), begin, begin + count, rows, [&](const RowBlock& block) {
      real* from = g.data() + block.begin * E;
      prepare(from, block.begin, block.count);
      sum_rows(from, E, block.count, sums.data() + index * E);
      const Upcoming next[] = {{from + block.count * E, block.following, E, E},
                               {x.data() + block.begin * D, block.count, D, D}};
      if (dx) flipped.multiply(block.count, from, E, dx->beta, dx->data + block.begin * D, D, next);
    });
    return std::tuple(begin, count, g.data() + begin * E);
  };
  if (w.needs_gradient()) {
    w.add_gradient(weight_gradient(a, x.data(), tiles, tile, tile_of));
  } else {
    parallel_tasks(tiles, tile_of);
  }
  bias.add_gradient(sum_to_shape(sums, {E}));
}

/// y = gelu(y) and its slope.
void apply_gelu(real* __restrict y, real* __restrict slope, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) math::gelu(y[i], y + i, slope + i);
}

}  // namespace

Var affine(const Var& x, const Var& w, const Var& bias) {
  require_factors("affine", x, w, bias);
  return affine(x, w, bias, with_last(x.shape(), w.dim(1)));
}

Var affine(const Var& x, const Var& w, const Var& bias, const Shape& shape) {
  require_rows("affine", x, w, bias, shape);
  const Affine a = make_affine("affine", shape, w);
  const auto add_bias = [&](real* y, std::size_t, std::size_t count) {
    add_to_rows(bias.data(), a.E, count, y);
  };
  return record(a.op, forward(a, shape, x, w, add_bias), {x, w, bias},
                [a, x, w, bias = bias.gradient_only()](Tensor& g) {
                  backward(a, x, w, bias, g, [](real*, std::size_t, std::size_t) {});
                });
}

Var affine_add(const Var& residual, const Var& x, const Var& w, const Var& bias) {
  require_rows("affine_add", x, w, bias, residual.shape());
  const Affine a = make_affine("affine_add", residual.shape(), w);
  const auto add = [&](real* y, std::size_t begin, std::size_t count) {
    add_to_rows(bias.data(), residual.data() + begin * a.E, a.E, count, y);
  };
  return record(
      a.op, forward(a, residual.shape(), x, w, add, residual.data()), {residual, x, w, bias},
      [a, x, w, residual = residual.gradient_only(), bias = bias.gradient_only()](Tensor& g) {
        backward(a, x, w, bias, g, [](real*, std::size_t, std::size_t) {});
        residual.add_gradient(std::move(g));
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
      for (std::size_t i = 0; i < count * a.E; ++i) y[i] = math::gelu(y[i]);
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
