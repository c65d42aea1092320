#include <bochner/autodiff/ops/affine_gradients.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/autodiff/weight_cache.hpp>
#include <optional>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct Affine : AffineTiles {
  /// Returns rows per forward tile. Nothing is summed over rows, so threads can share even the few
  /// rows of one token of many texts.
  std::size_t forward_tile() const {
    return std::max(rows_worth_a_task(D, E), std::min<std::size_t>(rows / 8, 256));
  }
  /// Returns whether our own tiles split the columns: each part of the weights is packed once.
  bool has_few_rows() const {
    constexpr std::size_t fewest = 16;
    return has_own_products() && rows >= fewest && rows < min_rows_for_blocks;
  }
};

void require_rows(const char* op, const Var& x, const Var& w, const Var& bias, const Shape& shape) {
  require(w.rank() == 2 && w.dim(1) > 0 && bias.shape() == Shape{w.dim(1)} &&
              x.size() * w.dim(1) == element_count(shape) * w.dim(0),
          op, "w (D, E) does not map x ", x.shape(), " to ", shape, ": w ", w.shape(), ", bias ",
          bias.shape());
}

Affine make_affine(const Shape& result, const Var& w) {
  const std::size_t D = w.dim(0), E = w.dim(1);
  return {{element_count(result) / E, D, E}};
}

/// Returns the packed weights cached by an earlier pass if few rows are multiplied, else null.
std::shared_ptr<const PackedFactor> cached_factor(const Affine& a, const Var& w) {
  WeightCache* cached = w.tape() && !w.tape()->recording ? w.tape()->weight_cache : nullptr;
  if (!cached || !a.has_few_rows() || !cached->holds(w.value())) return nullptr;
  return cached->of<PackedFactor>(&w.value(), 0, [&] {
    return std::make_shared<const PackedFactor>(a.rows, a.E, a.D, Operand{w.data(), a.E}, true,
                                                PackedFactor::Uses::again);
  });
}

/// Computes forward() with threads sharing the columns.
template <class Finish>
void multiply_columns(const Affine& a, const real* x, const real* w, real* y,
                      const Finish& finish) {
  constexpr std::size_t slice = 64, activations = 8192;
  parallel_for(a.E, slice, [&](std::size_t begin, std::size_t end) {
    gemm(a.rows, end - begin, a.D, {x, a.D}, {w + begin, a.E}, 0, y + begin, a.E);
  });
  parallel_for(a.rows, std::max<std::size_t>(1, activations / a.E),
               [&](std::size_t begin, std::size_t end) {
                 finish(y + begin * a.E, y + begin * a.E, begin, end - begin);
               });
}

/// Computes y = x w; finish(product, y, begin, count) completes rows and writes them to y, which
/// may be the product. Prefetches the rows of `also` that finish() reads.
template <class Finish>
Tensor forward(const Affine& a, const Shape& result, const Var& x, const Var& w,
               const Finish& finish, const real* also = nullptr) {
  Tensor y = uninitialized(result);
  const auto cached = cached_factor(a, w);
  if (!cached && a.has_few_rows()) {
    multiply_columns(a, x.data(), w.data(), y.data(), finish);
    return y;
  }
  std::optional<PackedFactor> own;
  if (!cached) own.emplace(a.rows, a.E, a.D, Operand{w.data(), a.E});
  const PackedFactor& weights = cached ? *cached : *own;
  const Scratch<real> scratch(weights.prefers_cached_results() ? weights.block() * a.E : 0);
  const std::size_t tile = cached ? a.rows : a.forward_tile();
  parallel_for(a.rows, tile, [&](std::size_t begin, std::size_t end) {
    for_each_block(weights.block(), begin, end, a.rows, [&](const RowBlock& block) {
      real* rows = y.data() + block.begin * a.E;
      const real* from = x.data() + block.begin * a.D;
      const Upcoming next[] = {
          {from + block.count * a.D, block.following, a.D, a.D},
          {also ? also + block.begin * a.E : nullptr, also ? block.count : 0, a.E, a.E}};
      real* product = weights.prefers_cached_results() ? scratch.local() : rows;
      weights.multiply(block.count, from, a.D, 0, product, a.E, next);
      finish(product, rows, block.begin, block.count);
    });
  });
  return y;
}

/// Propagates gradients; prepare(g, begin, count) turns rows of g into the gradient of x w + bias.
template <class Prepare>
void backward(const Affine& a, const Var& x, const Var& w, const Var& bias, Tensor& g,
              const Prepare& prepare) {
  const GradientTarget dx(x);
  const auto rows_of = [&](std::size_t begin) { return g.data() + begin * a.E; };
  AffineGradients gradients = affine_gradients(a, x, w, dx.beta, dx.data, rows_of, prepare);
  if (w.needs_gradient()) w.add_gradient(std::move(gradients.w));
  bias.add_gradient(std::move(gradients.bias));
}

/// Computes y = gelu(y) and its slope.
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
  const Affine a = make_affine(shape, w);
  const auto add_bias = [&](const real* product, real* y, std::size_t, std::size_t count) {
    add_to_rows(bias.data(), product, a.E, count, y);
  };
  return record("affine", forward(a, shape, x, w, add_bias), {x, w, bias},
                [a, x, w, bias = bias.gradient_only()](Tensor& g) {
                  backward(a, x, w, bias, g, [](real*, std::size_t, std::size_t) {});
                },
                {{x, [&](const Var& d) { return affine(d, w, Var(zeros(bias.shape())), shape); }},
                 {w, [&](const Var& d) { return affine(x, d, Var(zeros(bias.shape())), shape); }},
                 {bias, [&](const Var& d) {
                    return reshape(broadcast_to(d, {a.rows, a.E}), shape);
                  }}});
}

Var affine_add(const Var& residual, const Var& x, const Var& w, const Var& bias) {
  require_rows("affine_add", x, w, bias, residual.shape());
  if (has_tangents(residual, x, w, bias)) return residual + affine(x, w, bias, residual.shape());
  const Affine a = make_affine(residual.shape(), w);
  const auto add = [&](const real* product, real* y, std::size_t begin, std::size_t count) {
    add_to_rows(bias.data(), residual.data() + begin * a.E, product, a.E, count, y);
  };
  return record(
      "affine_add", forward(a, residual.shape(), x, w, add, residual.data()),
      {residual, x, w, bias},
      [a, x, w, residual = residual.gradient_only(), bias = bias.gradient_only()](Tensor& g) {
        backward(a, x, w, bias, g, [](real*, std::size_t, std::size_t) {});
        residual.add_gradient(std::move(g));
      });
}

Var affine_gelu(const Var& x, const Var& w, const Var& bias) {
  require_factors("affine_gelu", x, w, bias);
  if (has_tangents(x, w, bias)) return gelu(affine(x, w, bias));
  const Shape shape = with_last(x.shape(), w.dim(1));
  const Affine a = make_affine(shape, w);
  const bool wanted = x.needs_gradient() || w.needs_gradient() || bias.needs_gradient();
  Storage slopes(wanted ? a.rows * a.E : 0);
  const auto activate = [&](const real* product, real* y, std::size_t begin, std::size_t count) {
    add_to_rows(bias.data(), product, a.E, count, y);
    if (wanted) {
      apply_gelu(y, slopes.data() + begin * a.E, count * a.E);
    } else {
      for (std::size_t i = 0; i < count * a.E; ++i) y[i] = math::gelu(y[i]);
    }
  };
  Tensor y = forward(a, shape, x, w, activate);
  return record("affine_gelu", std::move(y), {x, w, bias},
                [a, x, w, bias = bias.gradient_only(), slopes = std::move(slopes)](Tensor& g) {
                  const auto multiply = [&](real* rows, std::size_t begin, std::size_t count) {
                    const real* slope = slopes.data() + begin * a.E;
                    for (std::size_t i = 0; i < count * a.E; ++i) rows[i] *= slope[i];
                  };
                  backward(a, x, w, bias, g, multiply);
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
