#pragma once

#include <algorithm>
#include <bochner/autodiff/real.hpp>
#include <bochner/base/pool.hpp>
#include <bochner/base/shape.hpp>
#include <bochner/base/xtensor.hpp>

namespace bochner::inline BOCHNER_PRECISION {

using Storage = PooledNumbers<real>;
using Tensor = xt::xarray_container<Storage, xt::layout_type::row_major, Shape>;

inline Tensor uninitialized(const Shape& shape) { return Tensor::from_shape(shape); }
inline Tensor filled(const Shape& shape, real value) {
  Tensor tensor = uninitialized(shape);
  std::fill_n(tensor.data(), tensor.size(), value);
  return tensor;
}
inline Tensor zeros(const Shape& shape) { return filled(shape, real(0)); }
/// Returns memory to be written: uninitialised if `in_full`, else zeros.
inline Tensor unwritten(const Shape& shape, bool in_full) {
  return in_full ? uninitialized(shape) : zeros(shape);
}

}  // namespace bochner::inline BOCHNER_PRECISION
