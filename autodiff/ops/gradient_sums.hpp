#pragma once
/// Adds sums to parameter gradients, if needed.

#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/tape.hpp>

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

}  // namespace bochner::inline BOCHNER_PRECISION
