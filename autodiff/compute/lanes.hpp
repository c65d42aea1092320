#pragma once
/// The widest native vector of the build's target processor, and operations on its lanes.

#include <bochner/autodiff/real.hpp>
#include <bochner/base/processor/fused.hpp>
#include <bochner/base/processor/vectors.hpp>
#include <cmath>
#include <cstddef>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"  // nothing passes vectors between the two
namespace bochner::inline BOCHNER_PRECISION::inline BOCHNER_LANES {

typedef real NativeLanes
    __attribute__((vector_size(native_bytes), aligned(alignof(real)), may_alias));
inline constexpr std::size_t native_lane_count = sizeof(NativeLanes) / sizeof(real);
inline NativeLanes& lanes_at(real* x) { return *reinterpret_cast<NativeLanes*>(x); }
inline const NativeLanes& lanes_at(const real* x) {
  return *reinterpret_cast<const NativeLanes*>(x);
}
/// Lane indices for shuffles.
typedef decltype(NativeLanes{} < NativeLanes{}) LaneOrder;
inline LaneOrder lane_numbers() {
  LaneOrder numbers;
#pragma GCC unroll 16
  for (int i = 0; i < int(native_lane_count); ++i) numbers[i] = i;
  return numbers;
}

/// Sets n vectors to zero. Templates such as std::fill_n drop the alignment of the vectors' type,
/// so that clang takes them for aligned to their size.
inline void clear_lanes(NativeLanes* to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] = NativeLanes{};
}
inline void copy_lanes(const NativeLanes* from, std::size_t n, NativeLanes* to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
}

/// Broadcasts x; the compiler folds x - 0 but not x + 0.
inline NativeLanes all_lanes(real x) { return x - NativeLanes{}; }

/// Returns a * b + c, fused if the processor can, so that a row has the same bits in every tile.
inline NativeLanes fused_lanes(NativeLanes a, NativeLanes b, NativeLanes c) {
  if constexpr (has_fma) return fused(a, b, c);
  return a * b + c;
}
/// Returns a * b + c of scalars with the rounding of fused_lanes().
inline real fused_number(real a, real b, real c) {
  if constexpr (has_fma) return std::fma(a, b, c);
  return a * b + c;
}

}  // namespace bochner::inline BOCHNER_PRECISION::inline BOCHNER_LANES
#pragma GCC diagnostic pop
