#pragma once
/// What a backtest says, in figures with intervals over its origins.

#include <bochner/train/run/instruments/statistics.hpp>
#include <bochner/train/tasks/series/backtest.hpp>

namespace bochner {

class Page;

/// One measure of one forecast, over all rows of the horizon and row by row: rmse and mae in the
/// backtest's unit, mase (Hyndman and Koehler, "Another look at measures of forecast accuracy",
/// 2006), and pinball where there are quantiles. The intervals are those of bootstrap() over the
/// origins, nothing wide of a single one.
struct BacktestFigure {
  std::string forecast, measure;
  Resampled all;
  std::vector<Resampled> rows;
};
std::vector<BacktestFigure> figures_of(const Backtest& backtest);
/// "0.4321 [0.4012, 0.4633]"
std::string interval_words(const Resampled& figure);
/// Of the errors: "the unit of load".
std::string unit_words(const Backtest& backtest);

/// A section of a report: the figures in a table, and charts over the horizon.
void add_backtest(Page& page, const Backtest& backtest);

}  // namespace bochner
