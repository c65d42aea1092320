#pragma once
#include <bochner/autodiff/compute/lanes.hpp>
#include <utility>

namespace bochner::inline BOCHNER_PRECISION {
namespace lane_transpose {

/// Swaps the lanes whose index has bit `d` with the lanes without it of the vector d further.
template <int d, int... lane>
inline void swap_lanes(NativeLanes* x, std::integer_sequence<int, lane...>) {
  constexpr int L = native_lane_count;
#pragma GCC unroll 16
  for (int i = 0; i < L; ++i) {
    if (i & d) continue;
    const NativeLanes a = x[i], b = x[i + d];
    x[i] = __builtin_shufflevector(a, b, (lane & d ? L + lane - d : lane)...);
    x[i + d] = __builtin_shufflevector(a, b, (lane & d ? L + lane : lane + d)...);
  }
}

}  // namespace lane_transpose

/// Transposes a square of lanes: as many vectors as each has lanes.
inline void transpose_lanes(NativeLanes* x) {
  constexpr std::make_integer_sequence<int, int(native_lane_count)> lanes;
  lane_transpose::swap_lanes<1>(x, lanes);
  lane_transpose::swap_lanes<2>(x, lanes);
  if constexpr (native_lane_count > 4) lane_transpose::swap_lanes<4>(x, lanes);
  if constexpr (native_lane_count > 8) lane_transpose::swap_lanes<8>(x, lanes);
}

}  // namespace bochner::inline BOCHNER_PRECISION
