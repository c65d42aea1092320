#include <algorithm>
#include <bochner/autodiff/compute/lane_transpose.hpp>
#include <bochner/autodiff/compute/row_lanes.hpp>
#include <cstring>

namespace bochner::inline BOCHNER_PRECISION {
void rows_to_lanes(std::size_t rows, std::size_t n, const real* x, std::size_t stride, RowLanes* y,
                   std::size_t step) {
  const std::size_t whole = n / row_lanes * row_lanes;
  for (std::size_t t = 0; t < whole; t += row_lanes) {
    RowLanes block[row_lanes];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < row_lanes; ++i)
      block[i] = i < rows ? *reinterpret_cast<const RowLanes*>(x + i * stride + t) : RowLanes{};
    transpose_lanes(block);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < row_lanes; ++i) y[(t + i) * step] = block[i];
  }
  for (std::size_t t = whole; t < n; ++t) {
    for (std::size_t i = 0; i < row_lanes; ++i)
      y[t * step][i] = i < rows ? x[i * stride + t] : real(0);
  }
}

void lanes_to_rows(std::size_t rows, std::size_t n, const RowLanes* x, std::size_t step, real* y,
                   std::size_t stride) {
  // Rows are often about a power of two apart, in few cache sets: whole lines are written.
  constexpr std::size_t blocks = 8, most = blocks * row_lanes;
  RowLanes part[row_lanes][blocks];
  const std::size_t whole = n / row_lanes * row_lanes;
  for (std::size_t first = 0; first < whole; first += most) {
    const std::size_t count = std::min(most, whole - first);
    for (std::size_t t = 0; t < count; t += row_lanes) {
      RowLanes block[row_lanes];
#pragma GCC unroll 16
      for (std::size_t i = 0; i < row_lanes; ++i) block[i] = x[(first + t + i) * step];
      transpose_lanes(block);
#pragma GCC unroll 16
      for (std::size_t i = 0; i < row_lanes; ++i) part[i][t / row_lanes] = block[i];
    }
    for (std::size_t i = 0; i < rows; ++i)
      std::memcpy(y + i * stride + first, part[i], count * sizeof(real));
  }
  for (std::size_t t = whole; t < n; ++t) {
    for (std::size_t i = 0; i < rows; ++i) y[i * stride + t] = x[t * step][i];
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION
