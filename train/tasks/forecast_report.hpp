#pragma once
/// Forecasts in pictures.

#include <bochner/train/charts/page.hpp>

namespace bochner {

/// One variate of one window, in the unit of the data.
struct ForecastPicture {
  std::string title;
  std::vector<double> past, truth, forecast;  ///< rows before, after, after
};
/// Forecasts beside the truth, those of one window in a row.
void add_forecasts(Page& page, const std::vector<std::vector<ForecastPicture>>& windows);

/// Mean errors at each step of the horizon, in the unit of the training data. (H), (H)
struct HorizonErrors {
  std::string name;
  std::vector<double> squared, absolute;
};
void add_horizon_errors(Page& page, const std::vector<HorizonErrors>& forecasts);

}  // namespace bochner
