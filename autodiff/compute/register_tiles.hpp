#pragma once
/// Product tiles whose sums stay in registers, used by small products, panels and PackedFactor.
/// Every element is one sum over k in order (one per `panel_depth` if B is packed in panels),
/// independent of the other rows and columns.

#include <algorithm>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/lanes.hpp>
#include <bochner/base/ceil_div.hpp>
#include <bochner/base/processor/prefetch.hpp>
#include <span>

namespace bochner::inline BOCHNER_PRECISION {
namespace register_tiles {

using Vector = NativeLanes;
inline constexpr std::size_t width = native_lane_count;

/// Vectors of columns and rows of a register tile: its sums fill the registers.
inline constexpr std::size_t max_vectors = many_registers ? 4 : 2;
constexpr std::size_t tile_rows(std::size_t vectors) { return vectors == max_vectors ? 6 : 8; }

/// Inner elements of a packed panel; two vectors of columns take half of the first-level cache.
inline constexpr std::size_t panel_depth = 256;

constexpr std::size_t padded(std::size_t columns) { return round_up(columns, width); }

/// Returns the columns of the next panel of `left`; the last may end inside a vector.
constexpr std::size_t panel_columns(std::size_t left) {
  return std::clamp<std::size_t>(left / width, 1, max_vectors) * width;
}

/// Left factor of elements E: reals, or pairs of bfloat16 (see bfloat16_tiles.hpp).
template <class E>
struct LeftFactor {
  const E* data;
  std::size_t ld;
  Transpose transpose = Transpose::no;

  LeftFactor from(std::size_t row) const {
    return {data + row * (transpose == transposed ? 1 : ld), ld, transpose};
  }
};
inline LeftFactor<real> left_factor(const Operand& a) { return {a.data, a.ld, a.transpose}; }

/// Columns of B in whole vectors; rows are `ld` apart, or a panel's width in packed panels.
template <class E>
struct Panels {
  const E* data;
  std::size_t ld;
  bool packed;

  const E* at(std::size_t first, std::size_t K) const { return data + first * (packed ? K : 1); }
  std::size_t stride(std::size_t columns) const { return packed ? columns : ld; }
};

/// Returns sum + a * b for a vector of columns b.
inline Vector added_product(real a, const real* b, Vector sum) {
  return fused_lanes(all_lanes(a), lanes_at(b), sum);
}

/// Computes rows x (vectors * width) elements of C in registers; b holds whole vectors. Element (i,
/// k) of A is a[i lda + k], or a[k lda + i] if `flips`.
template <std::size_t rows, std::size_t vectors, bool flips, class E>
void tile(std::size_t K, const E* a, std::size_t lda, const E* b, std::size_t ldb, real beta,
          real* c, std::size_t ldc) {
  // Unrolled early, or the sums stay an array in memory.
  Vector sum[rows * vectors] = {};
  for (std::size_t k = 0; k < K; ++k) {
#pragma GCC unroll 32
    for (std::size_t n = 0; n < rows * vectors; ++n) {
      const E factor = a[flips ? k * lda + n / vectors : n / vectors * lda + k];
      sum[n] = added_product(factor, b + k * ldb + n % vectors * width, sum[n]);
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

struct Nothing {
  void operator()(real*, std::size_t, std::size_t) {}
};

/// Prefetches the tile of C and the rows read next during products, a few lines per tile.
class Ahead {
 public:
  Ahead(std::span<const Upcoming> upcoming, std::size_t tiles) : upcoming_(upcoming) {
    std::size_t lines = 0;
    for (const Upcoming& each : upcoming) lines += each.rows * lines_of(each);
    lines_per_tile_ = ceil_div(lines, std::max<std::size_t>(1, tiles));
    start_row(0);
  }

  void operator()(real* c, std::size_t ldc, std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i) __builtin_prefetch(c + i * ldc, 1);
    for (std::size_t left = lines_per_tile_; left > 0 && left_in_row_ > 0;) {
      const std::size_t count = std::min(left, left_in_row_);
      prefetch(next_, count * line);
      next_ += count * line;
      left -= count;
      left_in_row_ -= count;
      if (left_in_row_ == 0) start_row(row_ + 1);
    }
  }

 private:
  static constexpr std::size_t line = 64 / sizeof(real);
  static std::size_t lines_of(const Upcoming& each) { return ceil_div(each.columns, line); }

  /// Moves to that row of the first array, or else to the next array.
  void start_row(std::size_t row) {
    for (; !upcoming_.empty(); upcoming_ = upcoming_.subspan(1), row = 0) {
      const Upcoming& now = upcoming_.front();
      if (row == now.rows || now.columns == 0) continue;
      row_ = row;
      next_ = now.data + row * now.ld;
      left_in_row_ = lines_of(now);
      return;
    }
  }

  std::span<const Upcoming> upcoming_;
  const real* next_ = nullptr;
  std::size_t lines_per_tile_, row_ = 0, left_in_row_ = 0;
};

/// Returns whether `left` rows need more tiles with one row less per tile.
constexpr bool needs_rows(std::size_t rows, std::size_t left) {
  return ceil_div(left, rows) * (rows - 1) < left;
}

/// Computes the rows of C from `first` on in the fewest tiles of at most `rows`, about equal in
/// size: a small tile waits for its own sums.
template <std::size_t rows, std::size_t vectors, class E, class Interleaved>
void row_tiles(std::size_t first, std::size_t M, std::size_t K, const LeftFactor<E>& a, const E* b,
               std::size_t ldb, real beta, real* c, std::size_t ldc, Interleaved& interleaved) {
  for (; first + rows <= M && needs_rows(rows, M - first); first += rows) {
    interleaved(c + first * ldc, ldc, rows);
    if (a.transpose == transposed)
      tile<rows, vectors, true>(K, a.data + first, a.ld, b, ldb, beta, c + first * ldc, ldc);
    else
      tile<rows, vectors, false>(K, a.data + first * a.ld, a.ld, b, ldb, beta, c + first * ldc,
                                 ldc);
  }
  if constexpr (rows > 1)
    row_tiles<rows - 1, vectors>(first, M, K, a, b, ldb, beta, c, ldc, interleaved);
}

/// Computes the columns that whole vectors cover, max_vectors at a time, and returns their number.
template <std::size_t vectors, class E, class Interleaved>
std::size_t column_panels(std::size_t first, std::size_t M, std::size_t N, std::size_t K,
                          const LeftFactor<E>& a, const Panels<E>& b, real beta, real* c,
                          std::size_t ldc, Interleaved& interleaved) {
  constexpr std::size_t columns = vectors * width;
  for (; first + columns <= N; first += columns) {
    row_tiles<tile_rows(vectors), vectors>(0, M, K, a, b.at(first, K), b.stride(columns), beta,
                                           c + first, ldc, interleaved);
  }
  if constexpr (vectors > 1)
    return column_panels<vectors - 1>(first, M, N, K, a, b, beta, c, ldc, interleaved);
  return first;
}

constexpr std::size_t tile_count(std::size_t M, std::size_t N) {
  const std::size_t columns = max_vectors * width, rows = tile_rows(max_vectors);
  return ceil_div(M, rows) * std::max<std::size_t>(1, N / columns);
}

/// Computes the last columns, fewer than a vector: b is padded with zeros, c is not.
template <class E>
void last_columns(std::size_t M, std::size_t columns, std::size_t K, const LeftFactor<E>& a,
                  const E* b, std::size_t ldb, real beta, real* c, std::size_t ldc) {
  constexpr std::size_t rows = 8;
  Nothing nothing;
  for (std::size_t i = 0; i < M; i += rows) {
    const std::size_t count = std::min(rows, M - i);
    real whole[rows * width] = {};
    for (std::size_t r = 0; r < count && beta != 0; ++r)
      std::copy_n(c + (i + r) * ldc, columns, whole + r * width);
    row_tiles<rows, 1>(0, count, K, a.from(i), b, ldb, beta, whole, width, nothing);
    for (std::size_t r = 0; r < count; ++r)
      std::copy_n(whole + r * width, columns, c + (i + r) * ldc);
  }
}

/// Computes all columns of C; `b` has whole vectors for them.
template <class E, class Interleaved>
void multiply_panels(std::size_t M, std::size_t N, std::size_t K, const LeftFactor<E>& a,
                     const Panels<E>& b, real beta, real* c, std::size_t ldc,
                     Interleaved&& interleaved) {
  const std::size_t done = column_panels<max_vectors>(0, M, N, K, a, b, beta, c, ldc, interleaved);
  if (done < N) last_columns(M, N - done, K, a, b.at(done, K), width, beta, c + done, ldc);
}

/// Copies rows of whole vectors, unrolled: a library call per row would cost more.
template <std::size_t vectors>
void copy_rows(std::size_t rows, const real* from, std::size_t ld, real* to) {
  for (std::size_t k = 0; k < rows; ++k, from += ld, to += vectors * width) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v) lanes_at(to + v * width) = lanes_at(from + v * width);
  }
}

/// Copies K rows of `count` columns into rows of `columns`, padded with zeros.
inline void copy_padded(std::size_t K, std::size_t count, std::size_t columns, const real* from,
                        std::size_t ld, real* to) {
  for (std::size_t k = 0; k < K; ++k) {
    for (std::size_t j = 0; j < columns; ++j)
      to[k * columns + j] = j < count ? from[k * ld + j] : real(0);
  }
}

/// Packs one panel of `columns`, of which B has `count`.
inline void pack_panel(std::size_t K, std::size_t count, std::size_t columns, const Operand& b,
                       real* panel) {
  if (b.transpose == transposed) {
    if (count < columns) std::fill_n(panel, K * columns, real(0));
    return transpose_matrix(count, K, b.data, b.ld, panel, columns);
  }
  if (count < columns) return copy_padded(K, count, columns, b.data, b.ld, panel);
  switch (columns / width) {
    case 1:
      return copy_rows<1>(K, b.data, b.ld, panel);
    case 2:
      return copy_rows<2>(K, b.data, b.ld, panel);
    case 3:
      return copy_rows<3>(K, b.data, b.ld, panel);
    default:
      return copy_rows<4>(K, b.data, b.ld, panel);
  }
}

/// Packs B into consecutive panels, padded with zeros.
inline void pack(std::size_t K, std::size_t N, const Operand& b, real* packed) {
  for (std::size_t first = 0, columns; first < N; first += columns, packed += K * columns) {
    columns = panel_columns(N - first);
    pack_panel(K, std::min(columns, N - first), columns, columns_from(first, b), packed);
  }
}

}  // namespace register_tiles
}  // namespace bochner::inline BOCHNER_PRECISION
