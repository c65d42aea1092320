#include <bochner/autodiff/compute/arena.hpp>
#include <bochner/autodiff/compute/lanes.hpp>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/packed_factor.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/feed_forward.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/row_blocks.hpp>
#include <bochner/autodiff/ops/row_norm.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/base/independent_loop.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/product_precision.hpp>
#include <bochner/base/processor/prefetch.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Tiles of rows (D) through (H) and back; a task's block stays in the second-level cache.
struct HiddenTiles : RowTiles {
  std::size_t D, H;
  HiddenTiles(std::size_t rows, std::size_t D, std::size_t H)
      : RowTiles(rows, D, 2 * H, 128), D(D), H(H) {}
};

struct HiddenTile {
  real *normed, *normed_gradient;  // (rows, D)
  real *active, *hidden_gradient;  // (rows, H)
  real* scratch;                   // (2, D)

  HiddenTile(const HiddenTiles& n, Arena& arena) {
    arena.take(n.size * n.D, normed, normed_gradient);
    arena.take(n.size * n.H, active, hidden_gradient);
    arena.take(2 * n.D, scratch);
  }
};

struct TileSums {
  Tensor up_bias, down_bias, gain, bias;  // (tiles, H), (tiles, D) thrice
  explicit TileSums(const HiddenTiles& n)
      : up_bias(zeros({n.count(), n.H})),
        down_bias(zeros({n.count(), n.D})),
        gain(zeros({n.count(), n.D})),
        bias(zeros({n.count(), n.D})) {}
  RowNormSums of_norm(std::size_t tile) { return {&gain(tile, 0), &bias(tile, 0)}; }
};

/// Computes x = product + bias, y = gelu(x); x or y may be the product. x is real or Bfloat16.
template <class Element>
void activate(std::size_t rows, std::size_t H, const real* bias, const real* product, Element* x,
              real* y) {
  for (std::size_t i = 0; i < rows; ++i, product += H, x += H, y += H) {
    BOCHNER_INDEPENDENT_LOOP
    for (std::size_t j = 0; j < H; ++j) {
      const real argument = product[j] + bias[j];
      x[j] = Element(argument);
      y[j] = math::gelu(argument);
    }
  }
}

/// Computes y = gelu(x), turns g, the gradient of y, into that of x, and adds its rows to the sum.
template <class Element>
void activate_backward(std::size_t rows, std::size_t H, const Element* __restrict x,
                       real* __restrict y, real* __restrict g, real* __restrict sum) {
  for (std::size_t i = 0; i < rows; ++i, x += H, y += H, g += H) {
    prefetch_ahead(x, H);
    for (std::size_t j = 0; j < H; ++j) {
      real slope;
      math::gelu(real(x[j]), y + j, &slope);
      g[j] *= slope;
      sum[j] += g[j];
    }
  }
}

/// Keeps the arguments of gelu as elements, real or Bfloat16.
template <class Element>
class FeedForward {
 public:
  FeedForward(const Var& x, const RowNorm& norm, const MLPWeights& weights, bool keeps)
      : n_{row_count(x.shape()), x.dim(-1), weights.up.dim(1)},
        normed_(x, norm),
        weights_(weights),
        hidden_(keeps ? n_.rows * n_.H : 0) {}

  void forward(real* y) {
    const std::size_t rows = n_.rows, D = n_.D, H = n_.H;
    const PackedFactor up(rows, H, D, {weights_.up.data(), H});
    const PackedFactor down(rows, D, H, {weights_.down.data(), D});
    const Scratch<real> scratch(scratch_size<HiddenTile>(n_));
    parallel_for(rows, n_.size, [&](std::size_t begin, std::size_t end) {
      Arena arena(scratch.local());
      const HiddenTile tile(n_, arena);
      const std::size_t size = std::min(up.block(), end - begin);
      for_each_block(size, begin, end, n_.rows, [&](const RowBlock& block) {
        forward_block(block, up, down, tile, y + block.begin * n_.D);
      });
    });
  }

  void keep_input() { normed_.keep_input(); }

  /// Turns g, the gradient of y, into that of x, and propagates all other gradients.
  void backward(real* g) {
    normed_.restore_input();
    const std::size_t rows = n_.rows, D = n_.D, H = n_.H;
    const PackedFactor up(rows, D, H, {weights_.up.data(), H, transposed});
    const PackedFactor down(rows, H, D, {weights_.down.data(), D, transposed});
    TileSums sums(n_);
    const Scratch<real> scratch(scratch_size<HiddenTile>(n_));
    Tensor both = zeros({D, 2 * H});  // gradients of up and of transposed down, side by side
    const auto add_tile = [&](std::size_t, std::size_t index, real beta, real* c, std::size_t ldc) {
      const auto [begin, count] = n_[index];
      Arena arena(scratch.local());
      const HiddenTile tile(n_, arena);
      real* rows_of_g = g + begin * n_.D;
      for_each_block(std::min(up.block(), count), begin, begin + count, n_.rows,
                     [&](const RowBlock& block) {
                       backward_block(block, block.begin - begin, index, up, down, g, tile, sums);
                     });
      gemm(n_.D, n_.H, count, {tile.normed, n_.D, transposed}, {tile.hidden_gradient, n_.H}, beta,
           c, ldc);
      gemm(n_.D, n_.H, count, {rows_of_g, n_.D, transposed}, {tile.active, n_.H}, beta, c + n_.H,
           ldc);
      normed_.backward(begin, count, tile.normed_gradient, tile.scratch, true, rows_of_g,
                       sums.of_norm(index));
    };
    accumulate_products({1, n_.count(), D, 2 * H, n_.size, both.data(), 0, 2 * H}, add_tile);
    flush_gradients(both, sums);
  }

 private:
  /// Writes the argument of gelu to where it is kept, or to scratch memory.
  void forward_block(const RowBlock& block, const PackedFactor& up, const PackedFactor& down,
                     const HiddenTile& tile, real* y) {
    const std::size_t D = n_.D, H = n_.H;
    const real* x = normed_.input(block.begin);
    const Upcoming next[] = {{x + block.count * D, block.following, D, D}};
    normed_.compute(block.begin, block.count, tile.normed);
    real* argument = tile.hidden_gradient;
    if constexpr (std::is_same_v<Element, real>) {
      if (!hidden_.empty()) argument = hidden_.data() + block.begin * H;
    }
    if (up.prefers_cached_results()) argument = tile.active;
    real* product = down.prefers_cached_results() ? tile.normed : y;
    up.multiply(block.count, tile.normed, D, 0, argument, H, next);
    const real* bias = weights_.up_bias.data();
    if (hidden_.empty())
      activate(block.count, H, bias, argument, tile.hidden_gradient, tile.active);
    else
      activate(block.count, H, bias, argument, hidden_.data() + block.begin * H, tile.active);
    down.multiply(block.count, tile.active, H, 0, product, D);
    add_to_rows(weights_.down_bias.data(), x, product, D, block.count, y);
  }

  /// Computes the gradient of the normalised rows from rows of g; `at` is their offset in the tile.
  void backward_block(const RowBlock& block, std::size_t at, std::size_t index,
                      const PackedFactor& up, const PackedFactor& down, const real* g,
                      const HiddenTile& tile, TileSums& sums) const {
    const std::size_t D = n_.D, H = n_.H;
    const real* from = g + block.begin * D;
    const Element* hidden = hidden_.data() + block.begin * H;
    real *active = tile.active + at * H, *gradient = tile.hidden_gradient + at * H;
    const Upcoming next[] = {{normed_.input(block.begin), block.count, D, D}};
    down.multiply(block.count, from, D, 0, gradient, H, next);
    add_rows(from, block.count, D, &sums.down_bias(index, 0));
    activate_backward(block.count, H, hidden, active, gradient, &sums.up_bias(index, 0));
    normed_.recompute(block.begin, block.count, tile.normed + at * D);
    const Upcoming later[] = {{from + block.count * D, block.following, D, D}};
    up.multiply(block.count, gradient, H, 0, tile.normed_gradient + at * D, D, later);
  }

  void flush_gradients(const Tensor& both, const TileSums& sums) const {
    const std::size_t D = n_.D, H = n_.H;
    Tensor up = uninitialized({D, H}), down = uninitialized({H, D});
    for (std::size_t i = 0; i < D; ++i) std::copy_n(both.data() + i * 2 * H, H, up.data() + i * H);
    transpose_matrix(D, H, both.data() + H, 2 * H, down.data(), D);
    weights_.up.add_gradient(std::move(up));
    weights_.down.add_gradient(std::move(down));
    weights_.up_bias.add_gradient(sum_to_shape(sums.up_bias, {H}));
    weights_.down_bias.add_gradient(sum_to_shape(sums.down_bias, {D}));
    normed_.flush_gradients(sums.gain, sums.bias);
  }

  HiddenTiles n_;
  NormalizedRows normed_;
  MLPWeights weights_;
  PooledNumbers<Element> hidden_;  // (rows, H): arguments of gelu, if kept
};

template <class Element>
Var feed_forward_of(const Var& x, const RowNorm& norm, const MLPWeights& weights,
                    const std::vector<Var>& inputs) {
  const auto op = std::make_shared<FeedForward<Element>>(
      x, norm, weights, std::ranges::any_of(inputs, &Var::needs_gradient));
  Tensor y = uninitialized(x.shape());
  op->forward(y.data());
  op->keep_input();
  return record("feed_forward", std::move(y), inputs, [op, x = x.gradient_only()](Tensor& g) {
    op->backward(g.data());
    x.add_gradient(std::move(g));
  });
}

void require_shapes(const Var& x, const RowNorm& norm, const MLPWeights& weights) {
  const auto& [up, up_bias, down, down_bias] = weights;
  norm.require_width("feed_forward", x);
  require(up.rank() == 2 && up.dim(0) == x.dim(-1) && up.dim(1) > 0 &&
              up_bias.shape() == Shape{up.dim(1)} && down.shape() == Shape{up.dim(1), up.dim(0)} &&
              down_bias.shape() == Shape{up.dim(0)},
          "feed_forward", "weights must be (D, H), (H), (H, D), (D) for x (.., D): x ", x.shape(),
          ", weights ", up.shape(), ", ", up_bias.shape(), ", ", down.shape(), ", ",
          down_bias.shape());
}

/// A gate's factor and slope, given b and sigmoid(b).
struct SigmoidGate {
  static real open(real, real s) { return s; }
  static real slope(real, real s) { return s * (1 - s); }
};
struct SiluGate {
  static real open(real b, real s) { return b * s; }
  static real slope(real b, real s) { return s * (1 + b * (1 - s)); }
};

template <class Gate>
void gate_row(const real* __restrict x, std::size_t H, real* __restrict y) {
  for (std::size_t j = 0; j < H; ++j) y[j] = x[j] * Gate::open(x[H + j], math::sigmoid(x[H + j]));
}

template <class Gate>
void gate_row_backward(const real* __restrict x, const real* __restrict g, std::size_t H,
                       real* __restrict dx) {
  for (std::size_t j = 0; j < H; ++j) {
    const real b = x[H + j], s = math::sigmoid(b);
    dx[j] = g[j] * Gate::open(b, s);
    dx[H + j] = g[j] * x[j] * Gate::slope(b, s);
  }
}

template <class Gate>
Var gated(const char* op, const Var& x, Var (*gate)(const Var&)) {
  require(x.rank() >= 1 && x.dim(-1) % 2 == 0, op, "the last axis must be even: x ", x.shape());
  const std::size_t H = x.dim(-1) / 2, rows = row_count(x.shape());
  if (has_tangents(x)) return slice(x, -1, 0, H) * gate(slice(x, -1, H, 2 * H));
  Tensor y = uninitialized(with_last(x.shape(), H));
  parallel_rows(rows, 2 * H, [&](std::size_t row) {
    gate_row<Gate>(x.data() + row * 2 * H, H, y.data() + row * H);
  });
  return record(op, std::move(y), {x}, [x, H, rows](Tensor& g) {
    Tensor dx = uninitialized(x.shape());
    parallel_rows(rows, 2 * H, [&](std::size_t row) {
      gate_row_backward<Gate>(x.data() + row * 2 * H, g.data() + row * H, H,
                              dx.data() + row * 2 * H);
    });
    x.add_gradient(std::move(dx));
  });
}

}  // namespace

bool mlp_in_blocks() { return many_registers; }

Var feed_forward(const Var& x, const RowNorm& norm, const MLPWeights& weights, bool in_blocks) {
  require_shapes(x, norm, weights);
  const auto& [up, up_bias, down, down_bias] = weights;
  const std::vector<Var> inputs{x, norm.gain, norm.bias, up, up_bias, down, down_bias};
  if (row_count(x.shape()) < min_rows_for_blocks || !in_blocks || has_tangents(inputs))
    return affine_add(x, affine_gelu(norm.apply(x), up, up_bias), down, down_bias);
  const bool rounds = product_precision() == ProductPrecision::bfloat16;
  return (rounds ? feed_forward_of<Bfloat16> : feed_forward_of<real>)(x, norm, weights, inputs);
}

Var glu(const Var& x) { return gated<SigmoidGate>("glu", x, sigmoid); }

Var swiglu(const Var& x) { return gated<SiluGate>("swiglu", x, silu); }

}  // namespace bochner::inline BOCHNER_PRECISION
