#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/tasks/series/ensemble_pictures.hpp>
#include <cmath>
#include <numeric>

namespace bochner {
namespace {

constexpr double pictured_width = chart_width;

/// Times of the rows of a series and of those after it, or their numbers.
class RowAxis {
 public:
  explicit RowAxis(const TimeSeries& series)
      : series_(series), step_(series.times.empty() ? TimeStep() : series.time_step()) {}

  double at(std::size_t row) const {
    if (series_.times.empty()) return double(row + 1);
    const std::size_t n = series_.rows();
    return row < n ? series_.times[row] : step_.after(series_.times.back(), row - n + 1);
  }
  Axis axis() const {
    if (series_.times.empty()) return {"row"};
    return series_.numeric_time ? Axis{"time"} : Axis{"", Scale::time};
  }

 private:
  const TimeSeries& series_;
  TimeStep step_;
};

Chart titled(const DrawnForecast& drawn, Axis x) {
  return {.title = variate_name(drawn.series, drawn.variate),
          .x = std::move(x),
          .width = pictured_width};
}

std::string forecast_chart(const DrawnForecast& drawn) {
  constexpr std::size_t shown_horizons = 8, outer = 1;
  const auto& [series, v, forecast, contest] = drawn;
  const std::size_t n = series.rows(), H = forecast.mean.size();
  const RowAxis rows(series);
  Chart chart = titled(drawn, rows.axis());
  Curve seen, naive, coming;
  for (std::size_t i = n - std::min(n, shown_horizons * H); i < n; ++i)
    seen.add(rows.at(i), series.values(v, i));
  for (std::size_t h = 0; h < H; ++h) {
    coming.add(rows.at(n + h), forecast.mean[h]);
    naive.add(rows.at(n + h), forecast.naive[h]);
  }
  chart.add("seen", std::move(seen), Mark::line, 7);
  chart.add("naive", std::move(naive), Mark::dashed, 2);
  chart.add("forecast", std::move(coming), Mark::line, 1);
  for (std::size_t h = 0; h < H; ++h) {
    chart.series.back().low.push_back(forecast.mean[h] - forecast.half_widths[outer][h]);
    chart.series.back().high.push_back(forecast.mean[h] + forecast.half_widths[outer][h]);
  }
  return draw(chart);
}

std::string errors_by_row(const DrawnForecast& drawn) {
  Chart chart = titled(drawn, {"row of the horizon"});
  Curve own, naive;
  for (std::size_t h = 0; h < drawn.contest.spread.size(); ++h) {
    own.add(double(h + 1), drawn.contest.spread[h]);
    naive.add(double(h + 1), drawn.contest.naive_spread[h]);
  }
  chart.y.lowest = 0;
  chart.add("forecast", std::move(own), Mark::line, 1);
  chart.add("naive", std::move(naive), Mark::dashed, 2);
  return draw(chart);
}

/// Returns the errors of the first rows after the origins. (O)
std::vector<double> first_errors(const Contest& contest) {
  const std::size_t H = contest.spread.size();
  std::vector<double> errors;
  for (std::size_t o = 0; o < contest.origins.size(); ++o)
    errors.push_back(contest.residuals[o * H]);
  return errors;
}

std::string errors_over_time(const DrawnForecast& drawn) {
  const RowAxis rows(drawn.series);
  Chart chart = titled(drawn, rows.axis());
  chart.note = "first row after each origin";
  const std::vector<double> errors = first_errors(drawn.contest);
  const std::size_t n = drawn.contest.origins.back() + drawn.contest.spread.size();
  const std::size_t before = drawn.series.rows() - std::min(drawn.series.rows(), n);
  Curve curve;
  for (std::size_t o = 0; o < errors.size(); ++o)
    curve.add(rows.at(before + drawn.contest.origins[o]), errors[o]);
  chart.add("", std::move(curve), Mark::line_and_points, 1);
  return draw(chart);
}

std::string histogram_of_errors(const DrawnForecast& drawn) {
  constexpr std::size_t bins = 12;
  const std::vector<double>& errors = drawn.contest.residuals;
  double most = 0;
  for (const double error : errors) most = std::max(most, std::abs(error));
  std::vector<double> counts(bins);
  for (const double error : errors) {
    const double place = most > 0 ? (error / most + 1) / 2 : 0.5;
    ++counts[std::min(bins - 1, std::size_t(place * double(bins)))];
  }
  BarChart chart{.title = variate_name(drawn.series, drawn.variate),
                 .label = "errors",
                 .width = pictured_width};
  for (std::size_t i = 0; i < bins; ++i)
    chart.groups.push_back(
        i % 3 == 1 ? fmt::format("{:.2g}", most * ((2 * double(i) + 1) / bins - 1)) : "");
  chart.series.push_back({"", std::move(counts)});
  return draw(chart);
}

std::string autocorrelation_of_errors(const DrawnForecast& drawn) {
  std::vector<double> errors = first_errors(drawn.contest);
  const std::size_t n = errors.size();
  const double mean = std::accumulate(errors.begin(), errors.end(), 0.0) / double(n);
  double squares = 0;
  for (double& error : errors) error -= mean, squares += error * error;
  Chart chart = titled(drawn, {"origins apart"});
  chart.note = fmt::format("within {:.2f} if independent, at 95 %", 1.96 / std::sqrt(double(n)));
  chart.y.lowest = -1, chart.y.highest = 1;
  Curve curve;
  for (std::size_t lag = 1; lag <= n / 3 && squares > 0; ++lag) {
    double sum = 0;
    for (std::size_t i = lag; i < n; ++i) sum += errors[i] * errors[i - lag];
    curve.add(double(lag), sum / squares);
  }
  chart.add("", std::move(curve), Mark::line_and_points, 1);
  return draw(chart);
}

}  // namespace

void draw_forecasts(Page& page, const std::vector<DrawnForecast>& all) {
  const auto add = [&](const char* heading, const char* text,
                       std::initializer_list<std::string (*)(const DrawnForecast&)> charts) {
    std::vector<std::string> svgs;
    for (const DrawnForecast& drawn : all)
      for (const auto chart : charts) svgs.push_back(chart(drawn));
    page.section(heading, text);
    page.charts(svgs, card_width(pictured_width));
  };
  add("Forecasts", "The rows after the last one, in the unit of the data, with the band of 95 %.",
      {forecast_chart});
  add("Errors by row of the horizon", "Mean absolute errors on held-out rows.", {errors_by_row});
  add("Errors on held-out rows",
      "Over time, their histogram, and their autocorrelation: what remains of a pattern in it, the "
      "models did not find.",
      {errors_over_time, histogram_of_errors, autocorrelation_of_errors});
}

}  // namespace bochner
