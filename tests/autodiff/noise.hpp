#pragma once
/// Operands of products.

#include <bochner/autodiff/compute/philox.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Normal numbers.
inline std::vector<real> noise(std::size_t count, std::uint64_t seed) {
  const RandomFunction random{seed};
  std::vector<real> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = real(random.normal(i));
  return x;
}

}  // namespace bochner::inline BOCHNER_PRECISION
