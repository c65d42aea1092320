#pragma once
#include <bochner/train/charts/canvas.hpp>

namespace bochner {

/// Returns up to six ticks at whole seconds, minutes, hours, days, months or years between two
/// times in seconds since 1970, UTC; none beyond the years 0 to 9999.
std::vector<Tick> date_ticks(double low, double high);

}  // namespace bochner
