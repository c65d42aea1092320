#include <bochner/autodiff/compute/gemm.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

#ifndef BOCHNER_DOUBLE
/// Transposes an 8 x 8 block in three rounds of shuffles.
inline void transpose_block(const real* from, std::size_t stride, real* to, std::size_t to_stride) {
  typedef real Row __attribute__((vector_size(32), aligned(4), may_alias));
  Row x[8], y[8];
  for (int i = 0; i < 8; ++i) x[i] = *reinterpret_cast<const Row*>(from + i * stride);
  for (int i = 0; i < 8; i += 2) {
    y[i] = __builtin_shufflevector(x[i], x[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    y[i + 1] = __builtin_shufflevector(x[i], x[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i : {0, 1, 4, 5}) {
    x[i] = __builtin_shufflevector(y[i], y[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    x[i + 2] = __builtin_shufflevector(y[i], y[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    y[i] = __builtin_shufflevector(x[i], x[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    y[i + 4] = __builtin_shufflevector(x[i], x[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
  for (int i = 0; i < 8; ++i) *reinterpret_cast<Row*>(to + i * to_stride) = y[i];
}
#else
inline void transpose_block(const real* from, std::size_t stride, real* to, std::size_t to_stride) {
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < 8; ++j) to[j * to_stride + i] = from[i * stride + j];
  }
}
#endif

}  // namespace

void transpose_matrix(std::size_t rows, std::size_t columns, const real* from, std::size_t stride,
                      real* to, std::size_t to_stride) {
  const std::size_t whole_rows = rows / 8 * 8, whole_columns = columns / 8 * 8;
  for (std::size_t i = 0; i < whole_rows; i += 8) {
    for (std::size_t j = 0; j < whole_columns; j += 8)
      transpose_block(from + i * stride + j, stride, to + j * to_stride + i, to_stride);
  }
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = j < whole_columns ? whole_rows : 0; i < rows; ++i)
      to[j * to_stride + i] = from[i * stride + j];
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION
