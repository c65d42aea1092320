#pragma once
/// Helpers of backward passes: add sums to parameter gradients, if needed, and scale gradients.

#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/real.hpp>
#include <bochner/autodiff/tape.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Adds one sum per element of x to its gradient.
inline void add_sums(const Var& x, const double* sums) {
  if (!x.needs_gradient()) return;
  real* gradient = x.gradient_buffer().data();
  for (std::size_t i = 0; i < x.size(); ++i) gradient[i] += real(sums[i]);
}

/// Adds the column sums of parts (parts, elements of x) to the gradient of x.
inline void add_columns(const Var& x, const Tensor& parts) {
  if (x.needs_gradient())
    accumulate_columns(parts.data(), parts.shape()[0], x.size(), x.gradient_buffer().data());
}

/// Multiplies a precomputed loss gradient by the incoming gradient, which is usually 1.
inline void scale_in_place(real* x, std::size_t n, real factor) {
  if (factor == 1) return;
  parallel_each(n, elementwise_grain(n), [&](std::size_t i) { x[i] *= factor; });
}

}  // namespace bochner::inline BOCHNER_PRECISION
