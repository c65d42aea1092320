#pragma once
/// Equality to the last bit, where == would take -0 for 0 and no NaN for itself.

#include <bochner/autodiff/tensor.hpp>
#include <cstring>

namespace bochner {

inline bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) return false;
  return a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(real)) == 0;
}

}  // namespace bochner
