#include <bochner/train/tasks/series/forecast_pictures.hpp>
#include <numeric>
#include <utility>

namespace bochner {
namespace {

/// Returns a curve of values at the times from number `first`.
Curve curve_at(const std::vector<double>& times, std::size_t first, std::vector<double> values) {
  const auto from = times.begin() + std::ptrdiff_t(first);
  return {{from, from + std::ptrdiff_t(values.size())}, std::move(values)};
}

/// Returns a curve of values at the rows first, first + 1, ...
Curve curve_from(std::ptrdiff_t first, const std::vector<double>& values) {
  std::vector<double> rows(values.size());
  std::iota(rows.begin(), rows.end(), double(first));
  return {rows, values};
}

}  // namespace

std::string forecast_chart(const ForecastPicture& picture) {
  Chart chart{.title = picture.title, .x = picture.axis, .width = forecast_width, .height = 240};
  const std::size_t seen = picture.seen.size();
  chart.add("seen", curve_at(picture.times, 0, picture.seen), Mark::line, 7);
  chart.add("truth", curve_at(picture.times, seen, picture.truth), Mark::line, 0);
  chart.add("forecast", curve_at(picture.times, seen, picture.forecast), Mark::line, 1);
  chart.series.back().low = picture.low;
  chart.series.back().high = picture.high;
  return draw(chart);
}

std::string error_chart(const char* title, const std::vector<HorizonErrors>& forecasts,
                        std::vector<double> HorizonErrors::*error) {
  Chart chart{.title = title, .x = {"row of the horizon"}, .y = {"", Scale::linear, 0.0}};
  for (const HorizonErrors& forecast : forecasts)
    chart.add(forecast.name, curve_from(1, forecast.*error));
  chart.series.back().mark = Mark::dashed;
  return draw(chart);
}

}  // namespace bochner
