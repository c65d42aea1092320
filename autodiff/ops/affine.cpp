#include <bochner/autodiff/ops/affine_gradients.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <optional>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct Affine : AffineTiles {
  /// Where rows need not be added up, threads can share the few of a token of each of many texts.
  std::size_t forward_tile() const {
    return std::max(worthwhile_rows(D, E), std::min<std::size_t>(rows / 8, 256));
  }
  /// Our own tiles share the columns of so few rows: each part of the weights is packed once.
  bool has_few_rows() const {
    constexpr std::size_t fewest = 16;
    return has_own_products() && rows >= fewest && rows < fewest_rows_of_blocks;
  }
};

void require_rows(const char* op, const Var& x, const Var& w, const Var& bias, const Shape& shape) {
  require(w.rank() == 2 && w.dim(1) > 0 && bias.shape() == Shape{w.dim(1)} &&
              x.size() * w.dim(1) == element_count(shape) * w.dim(0),
          op, "no rows of (D, E) lead from x ", x.shape(), " to ", shape, ": w ", w.shape(),
          ", bias ", bias.shape());
}

Affine make_affine(const Shape& result, const Var& w) {
  const std::size_t D = w.dim(0), E = w.dim(1);
  return {{element_count(result) / E, D, E}};
}

/// Weights that few rows are multiplied by, as the pass before this one has packed them, if there
/// may be one; else null.
std::shared_ptr<const PackedFactor> kept_factor(const Affine& a, const Var& w) {
  WeightCache* kept = w.tape() && !w.tape()->recording ? w.tape()->kept : nullptr;
  if (!kept || !a.has_few_rows() || !kept->holds(w.value())) return nullptr;
  return kept->of<PackedFactor>(&w.value(), 0, [&] {
    return std::make_shared<const PackedFactor>(a.rows, a.E, a.D, Operand{w.data(), a.E}, true,
                                                PackedFactor::Uses::again);
  });
}

/// As forward() below, where threads share the columns.
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

/// y = x w; finish(product, y, begin, count) completes those rows, the first of which goes to y,
/// which may be where the product is. Where it reads rows of `also`, they are fetched before.
template <class Finish>
Tensor forward(const Affine& a, const Shape& result, const Var& x, const Var& w,
               const Finish& finish, const real* also = nullptr) {
  Tensor y = uninitialized(result);
  const auto kept = kept_factor(a, w);
  if (!kept && a.has_few_rows()) {
    multiply_columns(a, x.data(), w.data(), y.data(), finish);
    return y;
  }
  std::optional<PackedFactor> own;
  if (!kept) own.emplace(a.rows, a.E, a.D, Operand{w.data(), a.E});
  const PackedFactor& weights = kept ? *kept : *own;
  const Scratch<real> scratch(weights.wants_cache() ? weights.block() * a.E : 0);
  const std::size_t tile = kept ? a.rows : a.forward_tile();
  parallel_for(a.rows, tile, [&](std::size_t begin, std::size_t end) {
    for_each_block(weights.block(), begin, end, a.rows, [&](const RowBlock& block) {
      real* rows = y.data() + block.begin * a.E;
      const real* from = x.data() + block.begin * a.D;
      const Upcoming next[] = {
          {from + block.count * a.D, block.following, a.D, a.D},
          {also ? also + block.begin * a.E : nullptr, also ? block.count : 0, a.E, a.E}};
      real* product = weights.wants_cache() ? scratch.local() : rows;
      weights.multiply(block.count, from, a.D, 0, product, a.E, next);
      finish(product, rows, block.begin, block.count);
    });
  });
  return y;
}

/// Hands on all gradients; prepare(g, begin, count) first makes of rows of g what arrives at x w +
/// bias.
template <class Prepare>
void backward(const Affine& a, const Var& x, const Var& w, const Var& bias, Tensor& g,
              const Prepare& prepare) {
  const GradientTarget dx(x);
  const auto rows_of = [&](std::size_t begin) { return g.data() + begin * a.E; };
  AffineGradients gradients = affine_gradients(a, x, w, dx.beta, dx.data, rows_of, prepare);
  if (w.needs_gradient()) w.add_gradient(std::move(gradients.w));
  bias.add_gradient(std::move(gradients.bias));
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
  const Affine a = make_affine(shape, w);
  const auto add_bias = [&](const real* product, real* y, std::size_t, std::size_t count) {
    add_to_rows(bias.data(), product, a.E, count, y);
  };
  return record("affine", forward(a, shape, x, w, add_bias), {x, w, bias},
                [a, x, w, bias = bias.gradient_only()](Tensor& g) {
                  backward(a, x, w, bias, g, [](real*, std::size_t, std::size_t) {});
                });
}

Var affine_add(const Var& residual, const Var& x, const Var& w, const Var& bias) {
  require_rows("affine_add", x, w, bias, residual.shape());
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
