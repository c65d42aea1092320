#pragma once
/// Tensor: arrays of `real` in row-major order.

#include <bochner/autodiff/real.hpp>
#include <bochner/base/pool.hpp>
#include <bochner/base/shape.hpp>
#include <xtensor/xarray.hpp>

namespace bochner::inline BOCHNER_PRECISION {

using Storage = PooledNumbers<real>;
using Tensor = xt::xarray_container<Storage, xt::layout_type::row_major, Shape>;

/// Uninitialised memory of the given shape.
Tensor uninitialized(const Shape& shape);
Tensor filled(const Shape& shape, real value);
inline Tensor zeros(const Shape& shape) { return filled(shape, real(0)); }
/// For what is written next, in full or but for elements that are to be zero.
inline Tensor unwritten(const Shape& shape, bool in_full) {
  return in_full ? uninitialized(shape) : zeros(shape);
}

}  // namespace bochner::inline BOCHNER_PRECISION
