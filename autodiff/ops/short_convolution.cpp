#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/autodiff/ops/sequence.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// y_t += sum over taps j of w_j x_(t + direction j), where that token exists. direction -1 looks
/// back, 1 is its adjoint.
void convolve(const real* x, const real* w, std::size_t rows, std::size_t T, std::size_t D,
              std::size_t taps, int direction, real* y) {
  parallel_rows(rows, taps * D, [=](std::size_t row) {
    const std::size_t t = row % T;
    real* to = y + row * D;
    for (std::size_t j = 0; j < taps; ++j) {
      if (direction < 0 ? j > t : t + j >= T) break;
      const real* from = direction < 0 ? x + (row - j) * D : x + (row + j) * D;
      const real* tap = w + j * D;
      for (std::size_t c = 0; c < D; ++c) to[c] += tap[c] * from[c];
    }
  });
}

/// dw_j += sum over tokens of g_t x_(t - j), chunks of tokens joined in order.
void accumulate_taps(const real* x, const real* g, std::size_t rows, std::size_t T, std::size_t D,
                     std::size_t taps, real* dw) {
  const std::size_t grain = row_grain(taps * D), chunks = (rows + grain - 1) / grain;
  Tensor sums = zeros({chunks, taps, D});
  real* partial = sums.data();
  parallel_for(rows, grain, [=](std::size_t begin, std::size_t end) {
    real* sum = partial + begin / grain * taps * D;
    for (std::size_t row = begin; row < end; ++row) {
      for (std::size_t j = 0; j < taps && j <= row % T; ++j) {
        const real *from = x + (row - j) * D, *gradient = g + row * D;
        for (std::size_t c = 0; c < D; ++c) sum[j * D + c] += gradient[c] * from[c];
      }
    }
  });
  accumulate_columns(partial, chunks, taps * D, dw);
}

}  // namespace

Var short_convolution(const Var& x, const Var& w) {
  require(x.rank() == 3 && w.rank() == 2 && w.dim(1) == x.dim(2), "short_convolution",
          "w must be (K, D) for x (B, T, D): x ", x.shape(), ", w ", w.shape());
  const std::size_t rows = x.dim(0) * x.dim(1), T = x.dim(1), D = x.dim(2), taps = w.dim(0);
  Tensor y = zeros(x.shape());
  convolve(x.data(), w.data(), rows, T, D, taps, -1, y.data());
  return record("short_convolution", std::move(y), {x, w}, [x, w, rows, T, D, taps](Tensor& g) {
    if (x.needs_gradient())
      convolve(g.data(), w.data(), rows, T, D, taps, 1, x.gradient_buffer().data());
    if (w.needs_gradient())
      accumulate_taps(x.data(), g.data(), rows, T, D, taps, w.gradient_buffer().data());
  });
}

}  // namespace bochner::inline BOCHNER_PRECISION
