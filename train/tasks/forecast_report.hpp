#pragma once
/// Forecasts in pictures.

#include <bochner/data/series_windows.hpp>
#include <bochner/layers/basic/units.hpp>
#include <bochner/train/charts/page.hpp>
#include <functional>

namespace bochner::inline BOCHNER_PRECISION {

/// (B, V, L) -> (B, V, H)
using Forecast = std::function<Tensor(const Tensor&)>;

/// Some windows of a split in the unit of the data, then errors over all of them by row of the
/// horizon, of the forecast and of the last value. `unit` is that of the forecast.
void add_forecasts(Page& page, const SeriesWindows& windows, Split split, const Standardize& unit,
                   const Forecast& forecast);

}  // namespace bochner::inline BOCHNER_PRECISION
