#pragma once
/// Serialization of arrays in facts: shape and elements, checked against each other when read.

#include <algorithm>
#include <bochner/autodiff/tensor.hpp>
#include <bochner/train/storage/bounded_archive.hpp>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace bochner {

/// Throws DataError unless the shape holds this number of elements.
inline void require_shape(const std::vector<std::uint64_t>& shape, std::uint64_t elements) {
  std::uint64_t size = 1;
  bool fits = shape.size() <= 8;
  for (const std::uint64_t side : shape) fits = fits && !__builtin_mul_overflow(size, side, &size);
  if (!fits || size != elements)
    throw DataError("facts hold an array of ", elements, " elements, which do not fit its shape");
}

/// Reads or writes any array with shape(), size(), data() and resize().
template <class Archive, class Array>
void serialize_array(Archive& archive, Array& array) {
  using Element = std::remove_cvref_t<decltype(*array.data())>;
  std::vector<std::uint64_t> shape(array.shape().begin(), array.shape().end());
  std::vector<Element> elements(array.data(), array.data() + array.size());
  archive(shape, elements);
  if constexpr (std::is_same_v<Archive, BoundedInputArchive>) {
    require_shape(shape, elements.size());
    array.resize(typename Array::shape_type(shape.begin(), shape.end()));
    std::copy(elements.begin(), elements.end(), array.data());
  }
}

template <class Archive>
void serialize_indices(Archive& archive, Indices& indices) {
  std::vector<std::uint64_t> shape(indices.shape.begin(), indices.shape.end());
  archive(shape, indices.values);
  if constexpr (std::is_same_v<Archive, BoundedInputArchive>) {
    require_shape(shape, indices.values.size());
    indices.shape = Shape(shape.begin(), shape.end());
  }
}

}  // namespace bochner
