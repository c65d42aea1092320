#pragma once
#include <bochner/train/charts/chart.hpp>
#include <string>
#include <vector>

namespace bochner {

constexpr double forecast_width = 380;  ///< of a chart

/// One variate of a window: the rows seen, then the truth and its forecast, at these times.
struct ForecastPicture {
  std::string title;
  Axis axis;
  std::vector<double> times, seen, truth, forecast;
  std::vector<double> low = {}, high = {};  ///< the outer quantiles, if there are any
};
std::string forecast_chart(const ForecastPicture& picture);

/// Mean errors at each row of the horizon, in the unit of the training data. (H), (H)
struct HorizonErrors {
  std::string name;
  std::vector<double> squared, absolute;
};
/// Draws one kind of error by row of the horizon, the last forecast dashed.
std::string error_chart(const char* title, const std::vector<HorizonErrors>& forecasts,
                        std::vector<double> HorizonErrors::*error);

}  // namespace bochner
