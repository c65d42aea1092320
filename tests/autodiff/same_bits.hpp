#pragma once
/// Bit equality, where == would accept -0 for 0 and reject NaN, and digests to compare machines.

#include <bochner/autodiff/tensor.hpp>
#include <cstdint>
#include <cstring>

namespace bochner {

/// Returns numbers in [-1, 1) with full significands, the same on every machine.
inline Tensor mixed(const Shape& shape, std::uint32_t state) {
  Tensor x = uninitialized(shape);
  for (real& value : x) {
    state = state * 1664525 + 1013904223;
    value = real(std::int32_t(state)) / real(2147483648.0) / real(1.1);
  }
  return x;
}

/// Continues an FNV-1a digest with the bits of the elements.
inline std::uint64_t digest_of(const real* x, std::size_t n, std::uint64_t digest) {
  const auto* byte = reinterpret_cast<const unsigned char*>(x);
  for (std::size_t i = 0; i < n * sizeof(real); ++i) digest = (digest ^ byte[i]) * 0x100000001b3;
  return digest;
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) return false;
  return a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(real)) == 0;
}

}  // namespace bochner
