#include <bochner/autodiff/compute/arena.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/packed_factor.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/normed_affines.hpp>
#include <bochner/autodiff/ops/row_blocks.hpp>
#include <bochner/autodiff/ops/row_norm.hpp>
#include <deque>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Tiles of rows (D) to `maps` rows (E).
struct MapTiles : RowTiles {
  std::size_t D, E, maps;
  MapTiles(std::size_t rows, std::size_t D, std::size_t E, std::size_t maps)
      : RowTiles(rows, D, maps * E), D(D), E(E), maps(maps) {}
};

struct MapTile {
  real *normed, *gradient;  // (rows, D)
  real* product;            // (rows, E)
  real* scratch;            // (2, D)

  MapTile(const MapTiles& n, Arena& arena) {
    arena.take(n.size * n.D, normed, gradient);
    arena.take(n.size * n.E, product);
    arena.take(2 * n.D, scratch);
  }
};

/// Shared state of the outputs, whose gradients arrive one by one.
class NormedAffines {
 public:
  NormedAffines(const Var& x, const RowNorm& norm, const std::vector<LinearMap>& maps)
      : n_{row_count(x.shape()), x.dim(-1), maps[0].w.dim(1), maps.size()},
        x_(x.gradient_only()),
        normed_(x, norm),
        maps_(maps),
        gradients_(maps.size()) {}

  void forward(std::vector<Tensor>& y) {
    const auto factors = packed(Transpose::no);
    const Scratch<real> scratch(scratch_size<MapTile>(n_));
    parallel_for(n_.rows, n_.size, [&](std::size_t begin, std::size_t end) {
      Arena arena(scratch.local());
      const MapTile tile(n_, arena);
      const std::size_t size = std::min(factors[0].block(), end - begin);
      for_each_block(size, begin, end, n_.rows, [&](const RowBlock& block) {
        normed_.compute(block.begin, block.count, tile.normed);
        for (std::size_t m = 0; m < n_.maps; ++m) {
          real* to = y[m].data() + block.begin * n_.E;
          const Upcoming next[] = {
              {normed_.input(block.begin + block.count), m == 0 ? block.following : 0, n_.D, n_.D}};
          real* product = factors[m].prefers_cached_results() ? tile.product : to;
          factors[m].multiply(block.count, tile.normed, n_.D, 0, product, n_.E, next);
          add_to_rows(maps_[m].bias.data(), product, n_.E, block.count, to);
        }
      });
    });
  }

  void receive(std::size_t map, Tensor&& gradient) { gradients_[map] = std::move(gradient); }

  void keep_input() { normed_.keep_input(); }

  /// Runs once the gradients of all used outputs have arrived.
  void backward() {
    normed_.restore_input();
    const std::size_t rows = n_.rows, D = n_.D, E = n_.E, maps = n_.maps;
    for (Tensor& each : gradients_) {
      if (each.size() != rows * E) each = zeros({rows, E});
    }
    const auto factors = packed(Transpose::yes);
    const GradientTarget dx(x_);
    Tensor all = zeros({D, maps * E});  // gradients of the maps, side by side
    Tensor bias_sums = zeros({n_.count(), maps * E});
    Tensor norm_sums[] = {zeros({n_.count(), D}), zeros({n_.count(), D})};
    const Scratch<real> scratch(scratch_size<MapTile>(n_));
    const auto add_tile = [&](std::size_t, std::size_t index, real beta, real* c, std::size_t ldc) {
      const auto [begin, count] = n_[index];
      Arena arena(scratch.local());
      const MapTile tile(n_, arena);
      normed_.recompute(begin, count, tile.normed);
      for_each_block(std::min(factors[0].block(), count), begin, begin + count, n_.rows,
                     [&](const RowBlock& block) {
                       sum_maps(block, factors, tile.gradient + (block.begin - begin) * n_.D,
                                &bias_sums(index, 0));
                     });
      for (std::size_t m = 0; m < n_.maps; ++m) {
        gemm(n_.D, n_.E, count, {tile.normed, n_.D, transposed},
             {gradients_[m].data() + begin * n_.E, n_.E}, beta, c + m * n_.E, ldc);
      }
      normed_.backward(begin, count, tile.gradient, tile.scratch, dx.beta != 0,
                       dx.data ? dx.data + begin * n_.D : tile.normed,
                       {&norm_sums[0](index, 0), &norm_sums[1](index, 0)});
    };
    accumulate_products({1, n_.count(), D, maps * E, n_.size, all.data(), 0, maps * E}, add_tile);
    normed_.flush_gradients(norm_sums[0], norm_sums[1]);
    flush_gradients(all, sum_to_shape(bias_sums, {maps * E}));
  }

 private:
  /// A deque, because PackedFactor cannot be moved.
  std::deque<PackedFactor> packed(Transpose transpose) const {
    const std::size_t rows = n_.rows, D = n_.D, E = n_.E;
    const bool flips = transpose == transposed;
    std::deque<PackedFactor> factors;
    for (const LinearMap& map : maps_)
      factors.emplace_back(rows, flips ? D : E, flips ? E : D, Operand{map.w.data(), E, transpose});
    return factors;
  }

  /// Computes the gradient of the normalised rows from those of all maps.
  void sum_maps(const RowBlock& block, const std::deque<PackedFactor>& factors, real* to,
                real* bias_sums) const {
    for (std::size_t m = 0; m < n_.maps; ++m) {
      const real* from = gradients_[m].data() + block.begin * n_.E;
      const Upcoming next[] = {{from + block.count * n_.E, block.following, n_.E, n_.E}};
      factors[m].multiply(block.count, from, n_.E, real(m > 0), to, n_.D, next);
      add_rows(from, block.count, n_.E, bias_sums + m * n_.E);
    }
  }

  void flush_gradients(const Tensor& all, const Tensor& bias_sums) const {
    const std::size_t E = n_.E;
    for (std::size_t m = 0; m < n_.maps; ++m) {
      Tensor w = uninitialized({n_.D, E}), bias = uninitialized({E});
      for (std::size_t i = 0; i < n_.D; ++i)
        std::copy_n(all.data() + (i * n_.maps + m) * E, E, w.data() + i * E);
      std::copy_n(bias_sums.data() + m * E, E, bias.data());
      maps_[m].w.add_gradient(std::move(w));
      maps_[m].bias.add_gradient(std::move(bias));
    }
  }

  MapTiles n_;
  Var x_;
  NormalizedRows normed_;
  std::vector<LinearMap> maps_;
  std::vector<Tensor> gradients_;  // of the outputs, (rows, E) each
};

void require_shapes(const Var& x, const RowNorm& norm, const std::vector<LinearMap>& maps,
                    const Shape& shape) {
  norm.require_width("normed_affines", x);
  require(!maps.empty(), "normed_affines", "needs at least one map");
  for (const auto& [w, bias] : maps) {
    require(w.rank() == 2 && w.dim(1) > 0 && w.shape() == maps[0].w.shape() &&
                bias.shape() == Shape{w.dim(1)} && w.dim(0) == x.dim(-1) &&
                element_count(shape) == row_count(x.shape()) * w.dim(1),
            "normed_affines", "maps must be (D, E), (E) from x (.., D) to ", shape, ": x ",
            x.shape(), ", w ", w.shape(), ", bias ", bias.shape());
  }
}

/// Records the outputs; gradients wait at the first one, which the backward pass reaches last.
std::vector<Var> record_outputs(const std::shared_ptr<NormedAffines>& op, std::vector<Tensor> y,
                                const std::vector<Var>& inputs) {
  std::vector<Var> outputs{record("normed_affines", std::move(y[0]), inputs, [op](Tensor& g) {
    op->receive(0, std::move(g));
    op->backward();
  })};
  for (std::size_t m = 1; m < y.size(); ++m) {
    outputs.push_back(record("normed_affines", std::move(y[m]), {outputs[0]},
                             [op, m, first = outputs[0].gradient_only()](Tensor& g) {
                               op->receive(m, std::move(g));
                               if (!first.has_gradient()) first.gradient_buffer();
                             }));
  }
  return outputs;
}

}  // namespace

std::vector<Var> normed_affines(const Var& x, const RowNorm& norm,
                                const std::vector<LinearMap>& maps, const Shape& shape) {
  require_shapes(x, norm, maps, shape);
  std::vector<Var> inputs{x, norm.gain, norm.bias};
  for (const auto& [w, bias] : maps) inputs.insert(inputs.end(), {w, bias});
  if (row_count(x.shape()) < min_rows_for_blocks || has_tangents(inputs)) {
    const Var rows = norm.apply(x);
    std::vector<Var> y;
    for (const auto& [w, bias] : maps) y.push_back(affine(rows, w, bias, shape));
    return y;
  }
  std::vector<Tensor> y(maps.size());
  for (Tensor& each : y) each = uninitialized(shape);
  const auto op = std::make_shared<NormedAffines>(x, norm, maps);
  op->forward(y);
  op->keep_input();
  return record_outputs(op, std::move(y), inputs);
}

}  // namespace bochner::inline BOCHNER_PRECISION
