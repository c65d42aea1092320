#pragma once
/// The widest vector of the processor that the build is for, and what is done to its lanes.

#include <bochner/autodiff/compute/fused.hpp>
#include <bochner/autodiff/real.hpp>
#include <cmath>
#include <cstddef>

namespace bochner::inline BOCHNER_PRECISION {

#ifdef __AVX512F__
inline constexpr bool many_registers = true;
#else
inline constexpr bool many_registers = false;
#endif
inline constexpr std::size_t native_bytes = many_registers ? 64 : 32;
typedef real NativeLanes
    __attribute__((vector_size(native_bytes), aligned(alignof(real)), may_alias));
inline constexpr std::size_t native_lane_count = sizeof(NativeLanes) / sizeof(real);
/// The vector that begins at x.
inline NativeLanes& lanes_at(real* x) { return *reinterpret_cast<NativeLanes*>(x); }
inline const NativeLanes& lanes_at(const real* x) {
  return *reinterpret_cast<const NativeLanes*>(x);
}
/// Numbers of lanes, to shuffle them by.
typedef decltype(NativeLanes{} < NativeLanes{}) LaneOrder;
inline LaneOrder lane_numbers() {
  LaneOrder numbers;
#pragma GCC unroll 16
  for (int i = 0; i < int(native_lane_count); ++i) numbers[i] = i;
  return numbers;
}

/// x in every lane: x - 0 is x for the compiler too, x + 0 is not.
inline NativeLanes all_lanes(real x) { return x - NativeLanes{}; }

/// a * b + c; fused wherever the processor can, so that a row has the same bits in every tile.
inline NativeLanes fused_lanes(NativeLanes a, NativeLanes b, NativeLanes c) {
#ifdef __FMA__
  return fused(a, b, c);
#else
  return a * b + c;
#endif
}
/// The same of one number.
inline real fused_number(real a, real b, real c) {
#ifdef __FMA__
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

}  // namespace bochner::inline BOCHNER_PRECISION
