#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/lanes.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Computes y += x b for `rows` rows of b.
template <std::size_t rows>
void add_rows(std::size_t N, const real* x, const real* b, std::size_t ld, real* y) {
  constexpr std::size_t width = native_lane_count;
  std::size_t j = 0;
  for (; j + width <= N; j += width) {
    NativeLanes sum = lanes_at(y + j);
#pragma GCC unroll 8
    for (std::size_t k = 0; k < rows; ++k)
      sum = fused_lanes(all_lanes(x[k]), lanes_at(b + k * ld + j), sum);
    lanes_at(y + j) = sum;
  }
  for (; j < N; ++j) {
    for (std::size_t k = 0; k < rows; ++k) y[j] = fused_number(x[k], b[k * ld + j], y[j]);
  }
}

}  // namespace

void vector_product(std::size_t N, std::size_t K, const real* x, const real* b, std::size_t ld,
                    real beta, real* y) {
  constexpr std::size_t rows = 8;
  for (std::size_t j = 0; j < N; ++j) y[j] = beta == 0 ? real(0) : beta * y[j];
  std::size_t k = 0;
  for (; k + rows <= K; k += rows) add_rows<rows>(N, x + k, b + k * ld, ld, y);
  for (; k < K; ++k) add_rows<1>(N, x + k, b + k * ld, ld, y);
}

}  // namespace bochner::inline BOCHNER_PRECISION
