#pragma once
#include <bochner/autodiff/real.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// x *= factor, n elements: of a gradient that a loss made in its forward pass, by what arrives,
/// which is 1 for most.
inline void scale_in_place(real* x, std::size_t n, real factor) {
  if (factor == 1) return;
  parallel_each(n, elementwise_grain(n), [&](std::size_t i) { x[i] *= factor; });
}

}  // namespace bochner::inline BOCHNER_PRECISION
