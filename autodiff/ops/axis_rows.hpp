#pragma once

#include <bochner/autodiff/tensor.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// An array (outer, n, inner) around one axis of n elements, `inner` apart.
struct AxisRows {
  std::size_t outer = 1, n, inner = 1;
  AxisRows(const Shape& shape, std::size_t axis) : n(shape[axis]) {
    for (std::size_t i = 0; i < axis; ++i) outer *= shape[i];
    for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  }
  /// Calls body(first) for the first element of each line along the axis, in parallel.
  template <class Body>
  void for_each_column(const Body& body) const {
    parallel_rows(outer * inner, n,
                  [&](std::size_t i) { body(i / inner * n * inner + i % inner); });
  }
};

}  // namespace bochner::inline BOCHNER_PRECISION
