#pragma once

#include <algorithm>
#include <bochner/autodiff/compute/products.hpp>
#include <bochner/base/independent_loop.hpp>
#include <utility>

namespace bochner::inline BOCHNER_PRECISION {

/// Consecutive rows, and the number of rows after them to prefetch.
struct RowBlock {
  std::size_t begin, count, following;
};

/// With fewer rows, threads split the columns instead, and keeping rows in cache gains nothing.
inline constexpr std::size_t min_rows_for_blocks = 128;

/// Calls body for blocks of `size` of the rows [begin, end), of `rows` in all.
template <class Body>
void for_each_block(std::size_t size, std::size_t begin, std::size_t end, std::size_t rows,
                    const Body& body) {
  for (std::size_t count; begin < end; begin += count) {
    count = std::min(size, end - begin);
    body(RowBlock{begin, count, std::min(size, rows - begin - count)});
  }
}

/// Returns the rows that are worth a task when multiplied by (D, E).
inline std::size_t rows_worth_a_task(std::size_t D, std::size_t E) {
  return 2 * product_grain / std::max<std::size_t>(1, D * E) + 1;
}

/// All rows in tiles of `size`; each tile is one term of the gradient of weights (D, E).
struct RowTiles {
  std::size_t rows, size;

  /// Chooses at least eight tiles of at most `most` rows, but at least 64 rows and enough for a
  /// task. AMX takes 32 rows at a time: with 153 instead of 128, feed_forward's backward pass takes
  /// 20 % more.
  RowTiles(std::size_t rows, std::size_t D, std::size_t E, std::size_t most = 256)
      : rows(rows),
        size(std::min(
            rows, std::max(rows_worth_a_task(D, E), std::clamp<std::size_t>(rows / 8, 64, most)))) {
  }
  std::size_t count() const { return rows == 0 ? 0 : ceil_div(rows, size); }
  std::pair<std::size_t, std::size_t> operator[](std::size_t index) const {
    return {index * size, std::min(size, rows - index * size)};
  }
};

/// Computes y_i = product_i + bias for rows i; y may be the product.
inline void add_to_rows(const real* bias, const real* product, std::size_t E, std::size_t rows,
                        real* y) {
  for (std::size_t i = 0; i < rows; ++i) {
    BOCHNER_INDEPENDENT_LOOP
    for (std::size_t j = 0; j < E; ++j) y[i * E + j] = product[i * E + j] + bias[j];
  }
}

inline void add_to_rows(const real* bias, const real* x, const real* product, std::size_t E,
                        std::size_t rows, real* y) {
  for (std::size_t i = 0; i < rows; ++i) {
    BOCHNER_INDEPENDENT_LOOP
    for (std::size_t j = 0; j < E; ++j)
      y[i * E + j] = x[i * E + j] + (product[i * E + j] + bias[j]);
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION
