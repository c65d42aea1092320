#pragma once

#include <bochner/autodiff/tensor.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns x with axis i of the result taken from axis order[i]; `order` is a permutation.
Tensor permute(const Tensor& x, const std::vector<std::size_t>& order);
std::vector<std::size_t> inverse_order(const std::vector<std::size_t>& order);
/// Returns the unmarked axes, then the marked ones, which moves reduced axes to the end.
std::vector<std::size_t> kept_axes_first(const std::vector<bool>& reduced);

}  // namespace bochner::inline BOCHNER_PRECISION
