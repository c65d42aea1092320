#include <fmt/format.h>

#include <bochner/train/charts/page.hpp>
#include <bochner/train/studies/backtest_figures.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace bochner {
namespace {

/// Measure: its sums, and how many terms they have.
struct BacktestMeasure {
  const char* name;
  std::vector<double> OriginErrors::*sums;
  std::vector<double> Backtest::*terms;
  bool is_root = false;
};

std::vector<BacktestMeasure> measures_of(const Backtest& backtest) {
  std::vector<BacktestMeasure> all = {{"rmse", &OriginErrors::squared, &Backtest::values, true},
                                      {"mae", &OriginErrors::absolute, &Backtest::values},
                                      {"mase", &OriginErrors::scaled, &Backtest::scaled_values}};
  if (backtest.has_quantiles) all.push_back({"pinball", &OriginErrors::pinball, &Backtest::values});
  return all;
}

/// Computes a figure of rows first, ..., last - 1 of the horizon.
Resampled figure_of(const Backtest& backtest, const Backtest::Forecast& forecast,
                    const BacktestMeasure& measure, std::size_t first, std::size_t last) {
  std::vector<double> sums;
  for (const OriginErrors& origin : forecast.origins) {
    const auto& rows = origin.*measure.sums;
    sums.push_back(std::accumulate(rows.begin() + std::ptrdiff_t(first),
                                   rows.begin() + std::ptrdiff_t(last), 0.0));
  }
  const auto value = [&](const std::vector<std::size_t>& origins) {
    double sum = 0, terms = 0;
    for (const std::size_t origin : origins) {
      sum += sums[origin];
      terms += (backtest.*measure.terms)[origin] * double(last - first);
    }
    const double mean = terms > 0 ? sum / terms : 0;
    return measure.is_root ? std::sqrt(mean) : mean;
  };
  const auto& terms = backtest.*measure.terms;
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  if (std::accumulate(terms.begin(), terms.end(), 0.0) == 0) return {none, none, none};
  if (sums.size() > 1) return bootstrap(sums.size(), value);
  const double only = value({0});
  return {only, only, only};
}

Table table_of_figures(const std::vector<BacktestFigure>& figures) {
  Table table{{"forecast"}, {}};
  for (const BacktestFigure& figure : figures) {
    if (table.rows.empty() || table.rows.back()[0] != figure.forecast)
      table.rows.push_back({figure.forecast});
    if (table.rows.size() == 1) table.headers.push_back(figure.measure);
    table.rows.back().push_back(interval_words(figure.all));
  }
  return table;
}

std::string chart_of_measure(const std::vector<BacktestFigure>& figures, const char* measure) {
  Chart chart{.title = measure, .x = {"row of the horizon"}, .y = {"", Scale::linear, 0.0}};
  for (const BacktestFigure& figure : figures) {
    if (figure.measure != measure) continue;
    Series series{figure.forecast};
    for (std::size_t h = 0; h < figure.rows.size(); ++h) {
      series.x.push_back(double(h + 1));
      series.y.push_back(figure.rows[h].value);
      if (!chart.series.empty()) continue;  // only the model has a band
      series.low.push_back(figure.rows[h].low);
      series.high.push_back(figure.rows[h].high);
    }
    series.mark = chart.series.empty() ? Mark::line : Mark::dashed;
    chart.series.push_back(std::move(series));
  }
  return draw(chart);
}

}  // namespace

std::string interval_words(const Resampled& figure) {
  return fmt::format("{:.4g} [{:.4g}, {:.4g}]", figure.value, figure.low, figure.high);
}

std::string unit_words(const Backtest& backtest) {
  return backtest.unit.empty() ? "deviations of the training rows" : "the unit of " + backtest.unit;
}

std::vector<BacktestFigure> figures_of(const Backtest& backtest) {
  std::vector<BacktestFigure> figures;
  for (const Backtest::Forecast& forecast : backtest.forecasts)
    for (const BacktestMeasure& measure : measures_of(backtest)) {
      BacktestFigure figure{forecast.name,
                            measure.name,
                            figure_of(backtest, forecast, measure, 0, backtest.horizon),
                            {}};
      for (std::size_t h = 0; h < backtest.horizon; ++h)
        figure.rows.push_back(figure_of(backtest, forecast, measure, h, h + 1));
      figures.push_back(std::move(figure));
    }
  return figures;
}

void add_backtest(Page& page, const Backtest& backtest) {
  const std::vector<BacktestFigure> figures = figures_of(backtest);
  page.section("Rolling origins",
               fmt::format("{} origins, {} rows apart, from {} to {}. Errors in {}; mase in the "
                           "mean difference of the training rows after {} rows. Bands and "
                           "brackets: 95 % by the bootstrap over origins.",
                           backtest.starts.size(), backtest.stride, backtest.starts.front(),
                           backtest.starts.back(), unit_words(backtest), backtest.season));
  page.table(table_of_figures(figures));
  std::vector<std::string> charts;
  for (const BacktestMeasure& measure : measures_of(backtest))
    charts.push_back(chart_of_measure(figures, measure.name));
  page.charts(charts);
}

}  // namespace bochner
