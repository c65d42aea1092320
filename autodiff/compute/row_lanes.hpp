#pragma once
/// Many rows at once, one in each lane of a vector: what is done to an element is done to that of
/// every row, by plain vector instructions, and a row's bits depend on that row only.

#include <bochner/autodiff/compute/fused.hpp>
#include <bochner/autodiff/real.hpp>
#include <cstddef>

namespace bochner::inline BOCHNER_PRECISION {

/// The same element of `row_lanes` rows.
#ifdef __AVX512F__
typedef real RowLanes __attribute__((vector_size(64), aligned(alignof(real)), may_alias));
#else
typedef real RowLanes __attribute__((vector_size(32), aligned(alignof(real)), may_alias));
#endif
inline constexpr std::size_t row_lanes = sizeof(RowLanes) / sizeof(real);
struct ComplexLanes {
  RowLanes re, im;
};

inline RowLanes all_lanes(real x) { return x - RowLanes{}; }
/// a * b + c
inline RowLanes fused_lanes(RowLanes a, RowLanes b, RowLanes c) {
#ifdef __FMA__
  return fused(a, b, c);
#else
  return a * b + c;
#endif
}

/// Rows of n elements, `stride` apart, into lanes; vectors lie `step` apart there. Lanes without a
/// row are zero.
void rows_to_lanes(std::size_t rows, std::size_t n, const real* x, std::size_t stride, RowLanes* y,
                   std::size_t step);
/// The way back.
void lanes_to_rows(std::size_t rows, std::size_t n, const RowLanes* x, std::size_t step, real* y,
                   std::size_t stride);

}  // namespace bochner::inline BOCHNER_PRECISION
