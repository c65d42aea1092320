#include <unistd.h>

#include <algorithm>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/lanes.hpp>
#include <cstdint>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using Vector = NativeLanes;
constexpr std::size_t width = native_lane_count;

/// Vectors of columns and rows of a register tile: its sums fill the registers.
constexpr std::size_t most_vectors = many_registers ? 4 : 2;
constexpr std::size_t tile_rows(std::size_t vectors) { return vectors == most_vectors ? 6 : 8; }

constexpr std::size_t largest_inner = 1024;
constexpr std::size_t largest_packed = 16384;  // elements of B
constexpr std::size_t largest_rows = 2048;
constexpr std::size_t worth_packing = 32;  // rows of A that read a panel

/// A read-only matrix: element (i, j) is data[i * row + j * column].
struct Strided {
  const real* data;
  std::size_t row, column;
};

constexpr std::size_t padded(std::size_t columns) { return (columns + width - 1) / width * width; }

/// Columns of the next panel of `left`: what fits into a tile; the last may be part of a vector.
constexpr std::size_t panel_columns(std::size_t left) {
  return std::clamp<std::size_t>(left / width, 1, most_vectors) * width;
}

/// Columns of B, whole vectors of them: its rows lie `ld` apart, or a panel's width where panels
/// are packed one after the other.
struct Panels {
  const real* data;
  std::size_t ld;
  bool packed;

  const real* at(std::size_t first, std::size_t K) const { return data + first * (packed ? K : 1); }
  std::size_t stride(std::size_t columns) const { return packed ? columns : ld; }
};

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
      sum[n] = fused_lanes(factor, lanes_at(b + k * ldb + n % vectors * width), sum[n]);
    }
  }
  const auto at = [=](std::size_t n) -> Vector& {
    return lanes_at(c + n / vectors * ldc + n % vectors * width);
  };
  if (beta == 0) {
#pragma GCC unroll 32
    for (std::size_t n = 0; n < rows * vectors; ++n) at(n) = sum[n];
  } else {
#pragma GCC unroll 32
    for (std::size_t n = 0; n < rows * vectors; ++n) at(n) = sum[n] + beta * at(n);
  }
}

/// Whether `left` rows take more tiles if each has one row less than `rows`.
constexpr bool needs_rows(std::size_t rows, std::size_t left) {
  return (left + rows - 1) / rows * (rows - 1) < left;
}

/// The rows of C from `first` on, in as few tiles of at most `rows` as there can be, of about the
/// same size: a small one waits for its own sums.
template <std::size_t rows, std::size_t vectors>
void row_tiles(std::size_t first, std::size_t M, std::size_t K, const Strided& a, const real* b,
               std::size_t ldb, real beta, real* c, std::size_t ldc) {
  for (; first + rows <= M && needs_rows(rows, M - first); first += rows) {
    tile<rows, vectors>(K, {a.data + first * a.row, a.row, a.column}, b, ldb, beta, c + first * ldc,
                        ldc);
  }
  if constexpr (rows > 1) row_tiles<rows - 1, vectors>(first, M, K, a, b, ldb, beta, c, ldc);
}

/// As many columns as whole vectors cover, most_vectors at a time. Returns how many.
template <std::size_t vectors>
std::size_t column_panels(std::size_t first, std::size_t M, std::size_t N, std::size_t K,
                          const Strided& a, const Panels& b, real beta, real* c, std::size_t ldc) {
  constexpr std::size_t columns = vectors * width;
  for (; first + columns <= N; first += columns) {
    row_tiles<tile_rows(vectors), vectors>(0, M, K, a, b.at(first, K), b.stride(columns), beta,
                                           c + first, ldc);
  }
  if constexpr (vectors > 1) return column_panels<vectors - 1>(first, M, N, K, a, b, beta, c, ldc);
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

/// B in panels, one after the other, zeros at the end.
void pack(std::size_t K, std::size_t N, const Operand& b, real* packed) {
  for (std::size_t first = 0, columns; first < N; first += columns, packed += K * columns) {
    columns = panel_columns(N - first);
    const std::size_t count = std::min(columns, N - first);
    if (b.transpose == transposed)
      transpose_matrix(count, K, b.data + first * b.ld, b.ld, packed, columns);
    for (std::size_t k = 0; k < K; ++k) {
      real* row = packed + k * columns;
      if (b.transpose == Transpose::no) std::copy_n(b.data + k * b.ld + first, count, row);
      std::fill(row + count, row + columns, real(0));
    }
  }
}

/// How many lines of one set the first cache holds, as far as the system knows.
std::size_t cache_ways() {
  static const long found = sysconf(_SC_LEVEL1_DCACHE_ASSOC);
  return found > 0 ? std::size_t(found) : 8;
}

/// Whether a panel whose rows lie `ld` apart falls into so few of the 64 sets of the first cache
/// that it drives itself out, though it would fit in one piece. A quarter is left to A and C.
bool drives_itself_out(std::size_t K, std::size_t N, std::size_t ld) {
  constexpr std::size_t line = 64, sets = 64;
  const std::size_t apart = sets * line / std::gcd(sets * line, ld * sizeof(real));
  const std::size_t row = (panel_columns(N) * sizeof(real) + line - 1) / line, lines = K * row;
  const std::size_t room = cache_ways() * 3 / 4;
  return lines > room * std::min(sets, apart * row) && lines <= room * sets;
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
  const bool as_it_is = b.transpose == Transpose::no && N % width == 0 &&
                        (M < worth_packing || !drives_itself_out(K, N, b.ld));
  if (as_it_is) {
    column_panels<most_vectors>(0, M, N, K, left, {b.data, b.ld, false}, beta, c, ldc);
    return;
  }
  alignas(64) real packed[largest_packed];
  pack(K, N, b, packed);
  const std::size_t done =
      column_panels<most_vectors>(0, M, N, K, left, {packed, 0, true}, beta, c, ldc);
  if (done < N) last_columns(M, N - done, K, left, packed + done * K, width, beta, c + done, ldc);
}

bool is_panel_product(std::size_t M, std::size_t N, std::size_t K, Transpose a) {
  constexpr std::size_t half_page = 2048, fewest_rows = 64, fewest_columns = 128, largest = 512;
  if (M > largest_rows || K > largest) return false;
  if (a == transposed) return M >= fewest_columns && N >= fewest_columns;
  return M >= fewest_rows && N * sizeof(real) % half_page == 0;
}

void panel_product(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
                   real beta, real* c, std::size_t ldc) {
  constexpr std::size_t depth = 256, columns = largest_packed / depth;
  const std::size_t a_step = a.transpose == transposed ? a.ld : 1;
  for (std::size_t n = 0; n < N; n += columns) {
    for (std::size_t k = 0; k < K; k += depth) {
      const real* of_b = b.data + (b.transpose == transposed ? n * b.ld + k : k * b.ld + n);
      small_product(M, std::min(columns, N - n), std::min(depth, K - k),
                    {a.data + k * a_step, a.ld, a.transpose}, {of_b, b.ld, b.transpose},
                    k > 0 ? real(1) : beta, c + n, ldc);
    }
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION
