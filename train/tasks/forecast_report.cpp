#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/tasks/forecast_report.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t shown_windows = 3, shown_variates = 3, error_batch = 64;

/// `count` of n things, spread evenly with both ends, or all of them.
std::vector<std::size_t> spread(std::size_t n, std::size_t count) {
  count = std::min(n, count);
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < count; ++i)
    chosen.push_back(count == 1 ? 0 : i * (n - 1) / (count - 1));
  return chosen;
}

/// Elements of variate v of window 0 of (B, V, n), from `first` on.
std::vector<double> variate(const Tensor& x, std::size_t v, std::size_t first = 0) {
  const real* row = x.data() + v * x.shape()[2];
  return std::vector<double>(row + first, row + x.shape()[2]);
}

/// Mean errors at each step of the horizon, in the unit of the training data. (H), (H)
struct HorizonErrors {
  std::string name;
  std::vector<double> squared, absolute;
};

/// Sums of errors at each step of the horizon. (B, V, H), (B, V, H)
void add_errors(HorizonErrors& errors, const Tensor& forecast, const Tensor& truth) {
  const std::size_t H = errors.squared.size();
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double error = double(forecast.data()[i]) - double(truth.data()[i]);
    errors.squared[i % H] += error * error;
    errors.absolute[i % H] += std::abs(error);
  }
}

/// The last row of each window, H times. (B, V, L) -> (B, V, H)
Tensor persistence(const Tensor& past, std::size_t H) {
  const std::size_t L = past.shape()[2];
  Tensor forecast = uninitialized({past.shape()[0], past.shape()[1], H});
  for (std::size_t i = 0; i < forecast.size(); ++i)
    forecast.data()[i] = past.data()[i / H * L + L - 1];
  return forecast;
}

std::vector<double> numbers_from(std::ptrdiff_t first, std::size_t count) {
  std::vector<double> numbers(count);
  std::iota(numbers.begin(), numbers.end(), double(first));
  return numbers;
}

/// One variate: rows that were seen, then the truth and its forecast behind them.
std::string forecast_chart(const std::string& title, const std::vector<double>& seen,
                           const std::vector<double>& truth, const std::vector<double>& forecast) {
  Chart chart{.title = title, .x = {"rows after the last one seen"}};
  chart.width = 380, chart.height = 240;
  const auto add = [&](const char* name, const std::vector<double>& y, std::ptrdiff_t first,
                       int colour) {
    chart.series.push_back(
        {.name = name, .x = numbers_from(first, y.size()), .y = y, .colour = colour});
  };
  add("seen", seen, 1 - std::ptrdiff_t(seen.size()), 7);
  add("truth", truth, 1, 0);
  add("forecast", forecast, 1, 1);
  return draw(chart);
}

/// Some variates of one window.
std::vector<std::string> window_charts(const SeriesWindows& windows, Split split,
                                       std::size_t window, const Standardize& unit,
                                       const Forecast& forecast) {
  const SeriesBatch batch = windows.batch(windows.in_order(split, window, 1));
  Tensor past = batch.past;
  unit.apply(past);
  Tensor future = forecast(past);
  unit.undo(future);
  const std::size_t L = windows.spec().lookback, seen = std::min(L, 2 * windows.spec().horizon);
  const std::vector<std::string>& names = windows.series().names;
  std::vector<std::string> charts;
  for (const std::size_t v : spread(windows.series().variates(), shown_variates)) {
    const std::string name = names.empty() ? fmt::format("variate {}", v + 1) : names[v];
    charts.push_back(forecast_chart(
        fmt::format("{} from row {}", name, windows.first_predicted(split, window) + 1),
        variate(batch.past, v, L - seen), variate(batch.future, v), variate(future, v)));
  }
  return charts;
}

std::vector<HorizonErrors> horizon_errors(const SeriesWindows& windows, Split split,
                                          const Standardize& unit, const Forecast& forecast) {
  const std::size_t H = windows.spec().horizon;
  const std::vector<double> none(H, 0.0);
  std::vector<HorizonErrors> errors = {{"forecast", none, none}, {"last value", none, none}};
  for (std::uint64_t index = 0; index < windows.batches(split, error_batch); ++index) {
    SeriesBatch batch = windows.batch(windows.part(split, index, error_batch));
    unit.apply(batch.past);
    unit.apply(batch.future);
    add_errors(errors[0], forecast(batch.past), batch.future);
    add_errors(errors[1], persistence(batch.past, H), batch.future);
  }
  const auto count = double(windows.examples(split) * windows.series().variates());
  for (HorizonErrors& each : errors)
    for (std::vector<double>* sums : {&each.squared, &each.absolute})
      for (double& sum : *sums) sum /= count;
  return errors;
}

std::string error_chart(const char* title, const std::vector<HorizonErrors>& forecasts,
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

void add_forecasts(Page& page, const SeriesWindows& windows, Split split, const Standardize& unit,
                   const Forecast& forecast) {
  const std::size_t count = windows.examples(split);
  page.section("Forecasts",
               fmt::format("Windows of the {} split, in the unit of the data.", name_of(split)));
  for (const std::size_t window : spread(count, shown_windows))
    page.charts(window_charts(windows, split, window, unit, forecast), 340);
  page.section("Errors by row of the horizon",
               fmt::format("Over all {} windows of the {} split, in the unit of the training data.",
                           count, name_of(split)));
  const std::vector<HorizonErrors> errors = horizon_errors(windows, split, unit, forecast);
  page.charts({error_chart("Mean squared error", errors, &HorizonErrors::squared),
               error_chart("Mean absolute error", errors, &HorizonErrors::absolute)});
}

}  // namespace bochner::inline BOCHNER_PRECISION
