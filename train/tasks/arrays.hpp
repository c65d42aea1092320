#pragma once
/// Conversion of tensors, times and indices to arrays for other programs.

#include <bochner/autodiff/tape.hpp>
#include <bochner/base/time_array.hpp>

namespace bochner {

inline xt::xarray<double> array_of(const Tensor& tensor) { return tensor; }
inline xt::xarray<double> array_of(const Times& times) { return times; }

/// Returns numbers as an array of this shape.
template <class Number>
xt::xarray<double> array_of(const std::vector<Number>& numbers,
                            const std::vector<std::size_t>& shape) {
  auto array = xt::xarray<double>::from_shape(shape);
  std::copy(numbers.begin(), numbers.end(), array.begin());
  return array;
}

inline xt::xarray<double> array_of(const Indices& indices) {
  return array_of(indices.values, {indices.shape.begin(), indices.shape.end()});
}

}  // namespace bochner
