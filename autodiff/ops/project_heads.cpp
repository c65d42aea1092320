#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/products.hpp>
#include <bochner/autodiff/ops/linalg.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// y[:, h, :] = x[:, h, :] op(w[h]) + beta y[:, h, :] for (rows, H, D) to (rows, H, E); heads are
/// read in place, through the leading dimension.
void multiply_heads(Transpose transpose, std::size_t rows, std::size_t H, std::size_t D,
                    std::size_t E, const real* x, const real* w, real beta, real* y) {
  const std::size_t tiles = (rows + product_row_tile - 1) / product_row_tile;
  const std::size_t ldw = transpose == Transpose::yes ? D : E;
  const std::size_t grain = products_per_task(std::min(rows, product_row_tile), D, E);
  parallel_for(tiles * H, grain, [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t row = i / H * product_row_tile, h = i % H;
      gemm(Transpose::no, transpose, std::min(rows - row, product_row_tile), E, D, 1,
           x + (row * H + h) * D, H * D, w + h * D * E, ldw, beta, y + (row * H + h) * E, H * E);
    }
  });
}

/// dw[h] (m, d) += g[:, h, :]^T x[:, h, :]
void accumulate_heads(std::size_t rows, std::size_t H, std::size_t m, std::size_t d, const real* g,
                      const real* x, real* dw) {
  const std::size_t chunk = product_reduction_chunk, terms = (rows + chunk - 1) / chunk;
  const auto add_rows = [=](std::size_t h, std::size_t s, real beta, real* sum, std::size_t ld) {
    const std::size_t row = s * chunk;
    gemm(Transpose::yes, Transpose::no, m, d, std::min(rows - row, chunk), 1, g + (row * H + h) * m,
         H * m, x + (row * H + h) * d, H * d, beta, sum, ld);
  };
  accumulate_products({H, terms, m, d, std::min(rows, chunk), dw, m * d, d}, add_rows);
}

}  // namespace

Var project_heads(const Var& x, const Var& w) {
  require(x.rank() >= 2 && w.rank() == 3 && w.dim(0) == x.dim(-2) && w.dim(2) == x.dim(-1),
          "project_heads", "w must be (H, m, d) for x (.., H, d): x ", x.shape(), ", w ",
          w.shape());
  const std::size_t H = w.dim(0), m = w.dim(1), d = w.dim(2);
  Shape shape = x.shape();
  shape.back() = m;
  const std::size_t rows = element_count(Shape(shape.begin(), shape.end() - 2));
  Tensor y = uninitialized(shape);
  multiply_heads(Transpose::yes, rows, H, d, m, x.data(), w.data(), 0, y.data());
  return record("project_heads", std::move(y), {x, w}, [x, w, rows, H, m, d](Tensor& g) {
    if (x.needs_gradient()) {
      const GradientTarget dx(x);
      multiply_heads(Transpose::no, rows, H, m, d, g.data(), w.data(), dx.beta, dx.data);
    }
    if (w.needs_gradient())
      accumulate_heads(rows, H, m, d, g.data(), x.data(), w.gradient_buffer().data());
  });
}

}  // namespace bochner::inline BOCHNER_PRECISION
