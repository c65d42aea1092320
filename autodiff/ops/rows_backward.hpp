#pragma once
/// What ops on rows (the last axis) share.

#include <bochner/autodiff/compute/parallel_rows.hpp>
#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// kernel(begin, end) turns these rows of g, the gradient of an op's output, into the gradient of
/// its input x of the same shape; they are added to x's while in cache, or moved there in the end.
template <class Kernel>
void rows_backward(const Var& x, Tensor& g, std::size_t columns, std::size_t grain,
                   const Kernel& kernel) {
  const bool adding = x.has_gradient();
  real* sum = adding ? x.gradient_buffer().data() : nullptr;
  const real* term = g.data();
  parallel_for(columns == 0 ? 0 : g.size() / columns, grain,
               [&](std::size_t begin, std::size_t end) {
                 kernel(begin, end);
                 if (!adding) return;
                 for (std::size_t i = begin * columns; i < end * columns; ++i) sum[i] += term[i];
               });
  if (!adding) x.add_gradient(std::move(g));
}

}  // namespace bochner::inline BOCHNER_PRECISION
