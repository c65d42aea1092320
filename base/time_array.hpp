#pragma once
#include <xtensor/xarray.hpp>

namespace bochner {

/// Instants and spans: in double whatever the precision, until a phase is reduced to one turn. A
/// float counts the seconds since 1970 in steps of two minutes.
using Times = xt::xarray<double, xt::layout_type::row_major>;

}  // namespace bochner
