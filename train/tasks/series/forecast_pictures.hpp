#pragma once
/// Pictures of forecasts.

#include <bochner/train/charts/chart.hpp>
#include <string>
#include <vector>

namespace bochner {

constexpr double forecast_width = 380;  ///< of a chart

/// One variate: rows that were seen, then the truth and its forecast behind them, at these times.
struct ForecastPicture {
  std::string title;
  Axis axis;
  std::vector<double> times, seen, truth, forecast;
  std::vector<double> low = {}, high = {};  ///< the outer quantiles, if such are forecast
};
std::string forecast_chart(const ForecastPicture& picture);

/// Mean errors at each step of the horizon, in the unit of the training data. (H), (H)
struct HorizonErrors {
  std::string name;
  std::vector<double> squared, absolute;
};
/// Of one kind of error, the last forecast dashed.
std::string error_chart(const char* title, const std::vector<HorizonErrors>& forecasts,
                        std::vector<double> HorizonErrors::*error);

}  // namespace bochner
