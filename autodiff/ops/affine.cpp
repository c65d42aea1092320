#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/products.hpp>
#include <bochner/autodiff/compute/reduce.hpp>
#include <bochner/autodiff/ops/gradient_target.hpp>
#include <bochner/autodiff/ops/linalg.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// The bias is added to each row tile while the tile is in cache.
void affine_rows(const real* x, const real* w, const real* bias, std::size_t rows, std::size_t D,
                 std::size_t E, real* y) {
  parallel_for(rows, product_row_tile, [=](std::size_t begin, std::size_t end) {
    gemm(Transpose::no, Transpose::no, end - begin, E, D, 1, x + begin * D, D, w, E, 0,
         y + begin * E, E);
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t j = 0; j < E; ++j) y[i * E + j] += bias[j];
    }
  });
}

}  // namespace

Var affine(const Var& x, const Var& w, const Var& bias) {
  require(x.rank() >= 1 && w.rank() == 2 && w.dim(0) == x.dim(-1), "affine",
          "w must be (D, E) for x (.., D): x ", x.shape(), ", w ", w.shape());
  const std::size_t D = w.dim(0), E = w.dim(1);
  require(bias.shape() == Shape{E}, "affine", "bias must be (E) for w (D, E): w ", w.shape(),
          ", bias ", bias.shape());
  Shape shape = x.shape();
  shape.back() = E;
  const std::size_t rows = element_count(Shape(shape.begin(), shape.end() - 1));
  Tensor y = uninitialized(shape);
  affine_rows(x.data(), w.data(), bias.data(), rows, D, E, y.data());
  return record("affine", std::move(y), {x, w, bias},
                [x, w, bias = bias.gradient_only(), rows, D, E](Tensor& g) {
                  if (x.needs_gradient()) {
                    const GradientTarget dx(x);
                    parallel_gemm(Transpose::no, Transpose::yes, rows, D, E, 1, g.data(), E,
                                  w.data(), E, dx.beta, dx.data, D);
                  }
                  if (w.needs_gradient()) {
                    accumulate_transposed_product(D, E, rows, x.data(), D, g.data(), E,
                                                  w.gradient_buffer().data(), E);
                  }
                  if (bias.needs_gradient())
                    accumulate_columns(g.data(), rows, E, bias.gradient_buffer().data());
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
