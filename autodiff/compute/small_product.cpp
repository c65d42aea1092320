#include <algorithm>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/lanes.hpp>
#include <cstdint>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using Vector = NativeLanes;
constexpr std::size_t width = native_lane_count;

inline Vector& vector_at(real* x) { return *reinterpret_cast<Vector*>(x); }
inline const Vector& vector_at(const real* x) { return *reinterpret_cast<const Vector*>(x); }

/// Vectors of columns and rows of a register tile: its sums fill the registers.
constexpr std::size_t most_vectors = many_registers ? 4 : 2;
constexpr std::size_t tile_rows(std::size_t vectors) {
  constexpr std::size_t rows[] = {8, 8, 8, 6};
  return many_registers ? rows[vectors - 1] : 6;
}

constexpr std::size_t largest_inner = 1024;
constexpr std::size_t largest_packed = 16384;  // elements of B
constexpr std::size_t largest_rows = 2048;

/// A read-only matrix: element (i, j) is data[i * row + j * column].
struct Strided {
  const real* data;
  std::size_t row, column;
};

constexpr std::size_t padded(std::size_t columns) { return (columns + width - 1) / width * width; }

/// rows x (vectors * width) elements of C, each in a register; b holds whole vectors.
template <std::size_t rows, std::size_t vectors>
inline void tile(std::size_t K, const Strided& a, const real* b, std::size_t ldb, real beta,
                 real* c, std::size_t ldc) {
  // Unrolled early, or the sums stay an array in memory.
  Vector sum[rows * vectors] = {};
  for (std::size_t k = 0; k < K; ++k) {
#pragma GCC unroll 32
    for (std::size_t n = 0; n < rows * vectors; ++n) {
      const Vector factor = all_lanes(a.data[n / vectors * a.row + k * a.column]);
      sum[n] = fused_lanes(factor, vector_at(b + k * ldb + n % vectors * width), sum[n]);
    }
  }
  const auto at = [=](std::size_t n) -> Vector& {
    return vector_at(c + n / vectors * ldc + n % vectors * width);
  };
  if (beta == 0) {
#pragma GCC unroll 32
    for (std::size_t n = 0; n < rows * vectors; ++n) at(n) = sum[n];
  } else {
#pragma GCC unroll 32
    for (std::size_t n = 0; n < rows * vectors; ++n) at(n) = sum[n] + beta * at(n);
  }
}

/// The rows of C from `first` on, in tiles of `rows`; what is left goes to smaller tiles.
template <std::size_t rows, std::size_t vectors>
void row_tiles(std::size_t first, std::size_t M, std::size_t K, const Strided& a, const real* b,
               std::size_t ldb, real beta, real* c, std::size_t ldc) {
  for (; first + rows <= M; first += rows) {
    tile<rows, vectors>(K, {a.data + first * a.row, a.row, a.column}, b, ldb, beta, c + first * ldc,
                        ldc);
  }
  if constexpr (rows > 1) row_tiles<(rows + 1) / 2, vectors>(first, M, K, a, b, ldb, beta, c, ldc);
}

/// As many columns as whole vectors cover, most_vectors at a time. Returns how many.
template <std::size_t vectors>
std::size_t column_panels(std::size_t first, std::size_t M, std::size_t N, std::size_t K,
                          const Strided& a, const real* b, std::size_t ldb, real beta, real* c,
                          std::size_t ldc) {
  for (; first + vectors * width <= N; first += vectors * width) {
    row_tiles<tile_rows(vectors), vectors>(0, M, K, a, b + first, ldb, beta, c + first, ldc);
  }
  if constexpr (vectors > 1)
    return column_panels<vectors - 1>(first, M, N, K, a, b, ldb, beta, c, ldc);
  return first;
}

/// The last columns, fewer than a vector: b is padded with zeros, c is not.
void last_columns(std::size_t M, std::size_t columns, std::size_t K, const Strided& a,
                  const real* b, std::size_t ldb, real beta, real* c, std::size_t ldc) {
  constexpr std::size_t rows = 8;
  for (std::size_t i = 0; i < M; i += rows) {
    const std::size_t count = std::min(rows, M - i);
    real whole[rows * width] = {};
    for (std::size_t r = 0; r < count && beta != 0; ++r)
      std::copy_n(c + (i + r) * ldc, columns, whole + r * width);
    row_tiles<rows, 1>(0, count, K, {a.data + i * a.row, a.row, a.column}, b, ldb, beta, whole,
                       width);
    for (std::size_t r = 0; r < count; ++r)
      std::copy_n(whole + r * width, columns, c + (i + r) * ldc);
  }
}

#if defined(__AVX__) && !defined(BOCHNER_DOUBLE)
/// to (8, 8) = from^T in three rounds of shuffles.
inline void transpose_block(const real* from, std::size_t stride, real* to, std::size_t to_stride) {
  typedef real Row __attribute__((vector_size(32), aligned(4), may_alias));
  typedef std::int32_t Order __attribute__((vector_size(32)));
  Row x[8], y[8];
  for (int i = 0; i < 8; ++i) x[i] = *reinterpret_cast<const Row*>(from + i * stride);
  for (int i = 0; i < 8; i += 2) {
    y[i] = __builtin_shuffle(x[i], x[i + 1], Order{0, 8, 2, 10, 4, 12, 6, 14});
    y[i + 1] = __builtin_shuffle(x[i], x[i + 1], Order{1, 9, 3, 11, 5, 13, 7, 15});
  }
  for (int i : {0, 1, 4, 5}) {
    x[i] = __builtin_shuffle(y[i], y[i + 2], Order{0, 1, 8, 9, 4, 5, 12, 13});
    x[i + 2] = __builtin_shuffle(y[i], y[i + 2], Order{2, 3, 10, 11, 6, 7, 14, 15});
  }
  for (int i = 0; i < 4; ++i) {
    y[i] = __builtin_shuffle(x[i], x[i + 4], Order{0, 1, 2, 3, 8, 9, 10, 11});
    y[i + 4] = __builtin_shuffle(x[i], x[i + 4], Order{4, 5, 6, 7, 12, 13, 14, 15});
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

/// B as rows of whole vectors, zeros at the end.
void pack(std::size_t K, std::size_t N, const Operand& b, real* packed) {
  const std::size_t ld = padded(N);
  if (b.transpose == transposed) transpose_matrix(N, K, b.data, b.ld, packed, ld);
  for (std::size_t k = 0; k < K; ++k, packed += ld) {
    if (b.transpose == Transpose::no) std::copy_n(b.data + k * b.ld, N, packed);
    std::fill(packed + N, packed + ld, real(0));
  }
}

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

bool is_small_product(std::size_t M, std::size_t N, std::size_t K) {
  return K <= largest_inner && M <= largest_rows && K * padded(N) <= largest_packed;
}

void small_product(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
                   real beta, real* c, std::size_t ldc) {
  const bool flips = a.transpose == transposed;
  const Strided left{a.data, flips ? 1 : a.ld, flips ? a.ld : 1};
  if (b.transpose == Transpose::no && N % width == 0) {
    column_panels<most_vectors>(0, M, N, K, left, b.data, b.ld, beta, c, ldc);
    return;
  }
  alignas(64) real packed[largest_packed];
  pack(K, N, b, packed);
  const std::size_t done =
      column_panels<most_vectors>(0, M, N, K, left, packed, padded(N), beta, c, ldc);
  if (done < N) last_columns(M, N - done, K, left, packed + done, padded(N), beta, c + done, ldc);
}

}  // namespace bochner::inline BOCHNER_PRECISION
