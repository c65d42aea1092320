#pragma once
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/series/ensemble_learner.hpp>

namespace bochner {

/// A channel to draw: its series, its forecast and the competition before it.
struct DrawnForecast {
  const TimeSeries& series;
  std::size_t variate;
  EnsembleForecast forecast;
  Contest contest;
};
/// Adds the last rows with forecasts, bands and naive forecasts, the errors by row of the horizon
/// beside the naive ones, and the errors over time, their histogram and autocorrelation.
void draw_forecasts(Page& page, const std::vector<DrawnForecast>& all);

}  // namespace bochner
