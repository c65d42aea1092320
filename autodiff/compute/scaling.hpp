#pragma once
#include <bochner/autodiff/real.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Multiplies a precomputed loss gradient by the incoming gradient, which is usually 1.
inline void scale_in_place(real* x, std::size_t n, real factor) {
  if (factor == 1) return;
  parallel_each(n, elementwise_grain(n), [&](std::size_t i) { x[i] *= factor; });
}

}  // namespace bochner::inline BOCHNER_PRECISION
