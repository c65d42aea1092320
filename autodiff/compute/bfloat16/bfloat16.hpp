#pragma once
#include <bit>
#include <bochner/autodiff/compute/lanes.hpp>
#include <bochner/autodiff/real.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace bochner::inline BOCHNER_PRECISION {

/// A stored number: the upper half of a float.
struct Bfloat16 {
  std::uint16_t bits;

  Bfloat16() = default;
  /// Rounds to the nearest, ties away from zero; NaN stays NaN.
  explicit Bfloat16(real x)
      : bits(std::uint16_t((std::bit_cast<std::uint32_t>(float(x)) + (x == x ? 0x8000u : 0u)) >>
                           16)) {}
  explicit operator real() const { return real(std::bit_cast<float>(std::uint32_t(bits) << 16)); }
};

#ifndef BOCHNER_DOUBLE
typedef std::uint32_t BitLanes __attribute__((vector_size(native_bytes), aligned(4), may_alias));

/// Returns bits whose upper halves are the bfloat16 nearest to x, ties away from zero; NaN stays
/// NaN.
inline BitLanes rounded_bits(const NativeLanes& x) {
  return BitLanes(x) + (BitLanes(x == x) & 0x8000u);
}
#endif

}  // namespace bochner::inline BOCHNER_PRECISION
