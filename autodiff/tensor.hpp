#pragma once
/// Tensor: arrays of `real` in row-major order.

#include <bochner/autodiff/pool.hpp>
#include <bochner/autodiff/real.hpp>
#include <bochner/autodiff/shape.hpp>
#include <xtensor/xarray.hpp>

namespace bochner::inline BOCHNER_PRECISION {

using Storage = PooledNumbers<real>;
using Tensor = xt::xarray_container<Storage, xt::layout_type::row_major, Shape>;

/// Uninitialised memory of the given shape.
Tensor uninitialized(const Shape& shape);
Tensor filled(const Shape& shape, real value);
inline Tensor zeros(const Shape& shape) { return filled(shape, real(0)); }

}  // namespace bochner::inline BOCHNER_PRECISION
