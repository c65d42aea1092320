#pragma once
/// Figures of a backtest, with intervals over its origins.

#include <bochner/train/run/instruments/statistics.hpp>
#include <bochner/train/tasks/series/backtest.hpp>

namespace bochner {

class Page;

/// Measure of one forecast, over all rows of the horizon and row by row: rmse and mae in the
/// backtest's unit, mase (Hyndman and Koehler, "Another look at measures of forecast accuracy",
/// 2006), and pinball if there are quantiles. The intervals are those of bootstrap() over the
/// origins; those of a single origin have no width.
struct BacktestFigure {
  std::string forecast, measure;
  Resampled all;
  std::vector<Resampled> rows;
};
std::vector<BacktestFigure> figures_of(const Backtest& backtest);
/// Formats "0.4321 [0.4012, 0.4633]".
std::string interval_words(const Resampled& figure);
/// Returns the unit of the errors: "the unit of load".
std::string unit_words(const Backtest& backtest);

void add_backtest(Page& page, const Backtest& backtest);

}  // namespace bochner
