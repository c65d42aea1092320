#pragma once
/// Parallel loops over the rows of an array, where rows may be many and short or few and long.

#include <bochner/autodiff/compute/parallel.hpp>

namespace bochner {

/// Calls body(row, column, count) for pieces that cover `rows` rows of `row_size` elements.
template <class Body>
void parallel_pieces(std::size_t rows, std::size_t row_size, const Body& body) {
  parallel_for(rows * row_size, elementwise_grain, [&](std::size_t begin, std::size_t end) {
    std::size_t row = begin / row_size, column = begin % row_size;
    while (begin < end) {
      const std::size_t count = std::min(row_size - column, end - begin);
      body(row, column, count);
      begin += count;
      ++row;
      column = 0;
    }
  });
}

/// Rows of `columns` elements that are worth a task.
inline std::size_t row_grain(std::size_t columns) {
  return std::max<std::size_t>(1, elementwise_grain / std::max<std::size_t>(1, columns));
}

/// Calls body(row) for every row, several short rows per task.
template <class Body>
void parallel_rows(std::size_t rows, std::size_t row_size, const Body& body) {
  parallel_for(rows, row_grain(row_size), [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) body(row);
  });
}

}  // namespace bochner
