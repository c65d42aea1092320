#pragma once
/// Many rows at once, one per lane, so that operations on an element are plain vector instructions
/// and a row's bits depend on that row only.

#include <bochner/autodiff/compute/lanes.hpp>

namespace bochner::inline BOCHNER_PRECISION {

using RowLanes = NativeLanes;
inline constexpr std::size_t row_lanes = native_lane_count;
struct ComplexLanes {
  RowLanes re, im;
};

/// Loads rows of n elements, `stride` apart, into lanes, `step` vectors apart. Missing rows are 0.
void rows_to_lanes(std::size_t rows, std::size_t n, const real* x, std::size_t stride, RowLanes* y,
                   std::size_t step);
/// Stores lanes to rows; the inverse of rows_to_lanes().
void lanes_to_rows(std::size_t rows, std::size_t n, const RowLanes* x, std::size_t step, real* y,
                   std::size_t stride);

}  // namespace bochner::inline BOCHNER_PRECISION
