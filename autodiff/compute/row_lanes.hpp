#pragma once
/// Many rows at once, one in each lane of a vector: what is done to an element is done to that of
/// every row, by plain vector instructions, and a row's bits depend on that row only.

#include <bochner/autodiff/compute/lanes.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The same element of `row_lanes` rows.
using RowLanes = NativeLanes;
inline constexpr std::size_t row_lanes = native_lane_count;
struct ComplexLanes {
  RowLanes re, im;
};

/// Rows of n elements, `stride` apart, into lanes; vectors lie `step` apart there. Lanes without a
/// row are zero.
void rows_to_lanes(std::size_t rows, std::size_t n, const real* x, std::size_t stride, RowLanes* y,
                   std::size_t step);
/// The way back.
void lanes_to_rows(std::size_t rows, std::size_t n, const RowLanes* x, std::size_t step, real* y,
                   std::size_t stride);

}  // namespace bochner::inline BOCHNER_PRECISION
