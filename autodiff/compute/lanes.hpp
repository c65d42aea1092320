#pragma once
/// The widest native vector of the build's target processor, and operations on its lanes.

#include <bochner/autodiff/compute/fused.hpp>
#include <bochner/autodiff/real.hpp>
#include <cmath>
#include <cstddef>

// A program may be compiled for another processor than the library: what depends on the processor
// is in a namespace of its own, so that the linker keeps both.
#ifdef __AVX512F__
#define BOCHNER_LANES lanes512
#else
#define BOCHNER_LANES lanes256
#endif

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"  // nothing passes vectors between the two
namespace bochner::inline BOCHNER_PRECISION::inline BOCHNER_LANES {

#ifdef __AVX512F__
inline constexpr bool many_registers = true;
#else
inline constexpr bool many_registers = false;
#endif
inline constexpr std::size_t native_bytes = many_registers ? 64 : 32;
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

/// Broadcasts x; the compiler folds x - 0 but not x + 0.
inline NativeLanes all_lanes(real x) { return x - NativeLanes{}; }

/// Returns a * b + c, fused if the processor can, so that a row has the same bits in every tile.
inline NativeLanes fused_lanes(NativeLanes a, NativeLanes b, NativeLanes c) {
#ifdef __FMA__
  return fused(a, b, c);
#else
  return a * b + c;
#endif
}
/// Returns a * b + c of scalars with the rounding of fused_lanes().
inline real fused_number(real a, real b, real c) {
#ifdef __FMA__
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

}  // namespace bochner::inline BOCHNER_PRECISION::inline BOCHNER_LANES
#pragma GCC diagnostic pop
