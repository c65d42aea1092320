#pragma once
#include <bit>
#include <bochner/autodiff/real.hpp>
#include <cstddef>
#include <cstdint>

namespace bochner::inline BOCHNER_PRECISION {

/// A stored number: the upper half of a float.
struct Bfloat16 {
  std::uint16_t bits;

  Bfloat16() = default;
  /// Rounds to the nearest, ties away from zero.
  explicit Bfloat16(real x)
      : bits(std::uint16_t((std::bit_cast<std::uint32_t>(float(x)) + 0x8000u) >> 16)) {}
  explicit operator real() const { return real(std::bit_cast<float>(std::uint32_t(bits) << 16)); }
};

}  // namespace bochner::inline BOCHNER_PRECISION
