#pragma once
/// Blocks of rows that are in cache together, one after the other.

#include <algorithm>
#include <bochner/autodiff/compute/products.hpp>
#include <utility>

namespace bochner::inline BOCHNER_PRECISION {

/// Some rows, and how many behind them come next.
struct RowBlock {
  std::size_t begin, count, following;
};

/// Of fewer rows, threads share the columns, and nothing is won by keeping rows in cache.
inline constexpr std::size_t fewest_rows_of_blocks = 128;

/// Calls body for blocks of `size` of the rows [begin, end), of `rows` in all.
template <class Body>
void for_each_block(std::size_t size, std::size_t begin, std::size_t end, std::size_t rows,
                    const Body& body) {
  for (std::size_t count; begin < end; begin += count) {
    count = std::min(size, end - begin);
    body(RowBlock{begin, count, std::min(size, rows - begin - count)});
  }
}

/// Rows that are worth a task where they are multiplied by (D, E).
inline std::size_t worthwhile_rows(std::size_t D, std::size_t E) {
  return 2 * product_grain / std::max<std::size_t>(1, D * E) + 1;
}

/// All rows in tiles of `size`, each of which is a term of the gradient of weights (D, E).
struct RowTiles {
  std::size_t rows, size;

  /// Eight tiles or more, but none of fewer rows than 64 or than are worth a task, or else of more
  /// than `most`. Matrix units take 32 at a time: with 153 in place of 128, the backward pass of
  /// feed_forward takes a fifth more time.
  RowTiles(std::size_t rows, std::size_t D, std::size_t E, std::size_t most = 256)
      : rows(rows),
        size(std::min(
            rows, std::max(worthwhile_rows(D, E), std::clamp<std::size_t>(rows / 8, 64, most)))) {}
  std::size_t count() const { return rows == 0 ? 0 : ceil_div(rows, size); }
  /// The first row of a tile, and how many it has.
  std::pair<std::size_t, std::size_t> operator[](std::size_t index) const {
    return {index * size, std::min(size, rows - index * size)};
  }
};

/// y_i = product_i + bias, for rows i; y may be the product.
inline void add_to_rows(const real* bias, const real* product, std::size_t E, std::size_t rows,
                        real* y) {
  for (std::size_t i = 0; i < rows; ++i) {
#pragma GCC ivdep
    for (std::size_t j = 0; j < E; ++j) y[i * E + j] = product[i * E + j] + bias[j];
  }
}

/// y_i = x_i + (product_i + bias)
inline void add_to_rows(const real* bias, const real* x, const real* product, std::size_t E,
                        std::size_t rows, real* y) {
  for (std::size_t i = 0; i < rows; ++i) {
#pragma GCC ivdep
    for (std::size_t j = 0; j < E; ++j)
      y[i * E + j] = x[i * E + j] + (product[i * E + j] + bias[j]);
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION
