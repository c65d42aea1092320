#include <bochner/train/charts/chart.hpp>
#include <bochner/train/tasks/forecast_report.hpp>
#include <numeric>

namespace bochner {
namespace {

std::vector<double> numbers_from(std::ptrdiff_t first, std::size_t count) {
  std::vector<double> numbers(count);
  std::iota(numbers.begin(), numbers.end(), double(first));
  return numbers;
}

std::string draw(const ForecastPicture& picture) {
  const auto before = std::ptrdiff_t(picture.past.size());
  Chart chart{.title = picture.title, .x = {"rows after the last one seen"}};
  chart.width = 380, chart.height = 240;
  chart.series.push_back(
      {.name = "seen", .x = numbers_from(1 - before, picture.past.size()), .y = picture.past});
  chart.series.back().colour = 7;
  chart.series.push_back(
      {.name = "truth", .x = numbers_from(1, picture.truth.size()), .y = picture.truth});
  chart.series.back().colour = 0;
  chart.series.push_back(
      {.name = "forecast", .x = numbers_from(1, picture.forecast.size()), .y = picture.forecast});
  chart.series.back().colour = 1;
  return draw(chart);
}

std::string draw(const char* title, const std::vector<HorizonErrors>& forecasts,
                 std::vector<double> HorizonErrors::*error) {
  Chart chart{.title = title, .x = {"row of the horizon"}, .y = {"", Scale::linear, 0.0}};
  for (const HorizonErrors& forecast : forecasts) {
    const std::vector<double>& values = forecast.*error;
    chart.series.push_back(
        {.name = forecast.name, .x = numbers_from(1, values.size()), .y = values});
  }
  chart.series.back().mark = Mark::dashed;
  return draw(chart);
}

}  // namespace

void add_forecasts(Page& page, const std::vector<std::vector<ForecastPicture>>& windows) {
  for (const std::vector<ForecastPicture>& window : windows) {
    std::vector<std::string> charts;
    for (const ForecastPicture& picture : window) charts.push_back(draw(picture));
    page.charts(charts, 340);
  }
}

void add_horizon_errors(Page& page, const std::vector<HorizonErrors>& forecasts) {
  page.charts({draw("Mean squared error", forecasts, &HorizonErrors::squared),
               draw("Mean absolute error", forecasts, &HorizonErrors::absolute)});
}

}  // namespace bochner
