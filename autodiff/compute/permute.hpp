#pragma once
/// Copies with the axes in another order.

#include <bochner/autodiff/tensor.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Axis i of the result is axis order[i] of x; `order` is a permutation.
Tensor permute(const Tensor& x, const std::vector<std::size_t>& order);
/// The order that undoes `order`.
std::vector<std::size_t> inverse_order(const std::vector<std::size_t>& order);
/// The unmarked axes, then the marked ones: what brings the axes of a reduction to the end.
std::vector<std::size_t> kept_axes_first(const std::vector<bool>& reduced);

}  // namespace bochner::inline BOCHNER_PRECISION
