#pragma once
/// Gradients of rows x W + bias, a tile of rows at a time, for affine maps and fused losses.

#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/packed_factor.hpp>
#include <bochner/autodiff/ops/row_blocks.hpp>
#include <bochner/autodiff/tape.hpp>
#include <tuple>

namespace bochner::inline BOCHNER_PRECISION {

inline void require_factors(const char* op, const Var& x, const Var& w, const Var& bias) {
  require(x.rank() >= 1 && w.rank() == 2 && w.dim(0) == x.dim(-1), op,
          "w must be (D, E) for x (.., D): x ", x.shape(), ", w ", w.shape());
  require(w.dim(1) > 0, op, "w ", w.shape(), " has no columns");
  require(bias.shape() == Shape{w.dim(1)}, op, "bias must be (E) for w (D, E): w ", w.shape(),
          ", bias ", bias.shape());
}

/// Row tiles (rows, D) -> (rows, E) that stay in cache; each is one term of the gradient of W.
struct AffineTiles : RowTiles {
  std::size_t D, E;
  AffineTiles(std::size_t rows, std::size_t D, std::size_t E, std::size_t most = 256)
      : RowTiles(rows, D, E, most), D(D), E(E) {}
};

/// Gradients of W (D, E), empty if not needed, and of the bias (E).
struct AffineGradients {
  Tensor w, bias;
};

/// Returns x^T g (D, E) over all tiles; tile_of(index) gives begin, count and gradients of a tile.
/// Our own products reread the left factor, so the narrower one goes left.
template <class TileOf>
Tensor weight_gradient(const AffineTiles& a, const real* x, const TileOf& tile_of) {
  const bool flips = has_own_products() && a.D > a.E;
  const std::size_t M = flips ? a.E : a.D, N = flips ? a.D : a.E;
  Tensor sum = zeros({M, N});
  accumulate_products(
      {1, a.count(), M, N, a.size, sum.data(), 0, N},
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

/// Computes all gradients of a tile while it is in cache. rows_of(begin) points to the gradients g
/// of x W + bias, valid after prepare(g, begin, count) for blocks of its rows. The gradient of x
/// goes to dx (rows, D) with beta as in GradientTarget; null for none.
template <class RowsOf, class Prepare>
AffineGradients affine_gradients(const AffineTiles& a, const Var& x, const Var& w, real beta,
                                 real* dx, const RowsOf& rows_of, const Prepare& prepare) {
  const std::size_t D = a.D, E = a.E;
  const PackedFactor flipped(dx ? a.rows : 0, D, E, {w.data(), E, transposed});
  Tensor sums = zeros({a.count(), E});
  const auto tile_of = [&](std::size_t index) {
    const auto [begin, count] = a[index];
    real* gradients = rows_of(begin);
    for_each_block(flipped.block(), begin, begin + count, a.rows, [&](const RowBlock& block) {
      real* from = gradients + (block.begin - begin) * E;
      prepare(from, block.begin, block.count);
      add_rows(from, block.count, E, sums.data() + index * E);
      const Upcoming next[] = {{from + block.count * E, block.following, E, E},
                               {x.data() + block.begin * D, block.count, D, D}};
      if (dx) flipped.multiply(block.count, from, E, beta, dx + block.begin * D, D, next);
    });
    return std::tuple(begin, count, gradients);
  };
  Tensor dw;
  if (w.needs_gradient())
    dw = weight_gradient(a, x.data(), tile_of);
  else
    parallel_tasks(a.count(), tile_of);
  return {std::move(dw), sum_to_shape(sums, {E})};
}

}  // namespace bochner::inline BOCHNER_PRECISION
