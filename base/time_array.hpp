#pragma once
#include <bochner/base/xtensor.hpp>

namespace bochner {

/// Times and durations, in double in both precisions until a phase is reduced to one turn: a float
/// resolves seconds since 1970 to two minutes.
using Times = xt::xarray<double, xt::layout_type::row_major>;

}  // namespace bochner
