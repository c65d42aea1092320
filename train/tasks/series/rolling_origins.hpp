#pragma once
#include <bochner/data/series/series_windows.hpp>
#include <bochner/train/tasks/series/backtest.hpp>
#include <bochner/train/tasks/verdict.hpp>

namespace bochner {

/// Collects a backtest from forecasts of some windows. Throws std::invalid_argument if the split
/// has too few windows, or too few rows before them for the season.
class RollingOrigins {
 public:
  /// `units`: of the errors, for each series and variate if there are several variates; `levels`:
  /// of the quantiles, empty for point forecasts.
  RollingOrigins(const SeriesWindows& windows, const BacktestPlan& plan, std::vector<double> units,
                 std::vector<double> levels);
  /// Returns how many windows to forecast.
  std::size_t size() const { return chosen_.size(); }
  Examples examples(std::size_t first, std::size_t count) const;
  /// Adds forecasts of the windows from `first`, in the unit of the data. (B, V, H) or (B, V, H, Q)
  void add(std::size_t first, const Tensor& forecast);
  const Backtest& result() const { return result_; }

 private:
  struct Chosen {
    std::uint64_t window;
    SeriesWindows::Place place;
    std::size_t origin;
  };
  void choose(const BacktestPlan& plan);
  void set_season(std::size_t wanted);
  /// Returns the mean seasonal difference of the training rows; 0 if there is none.
  double difference_of(std::size_t series, std::size_t variate) const;
  void add_value(const Chosen& at, std::size_t variate, std::size_t h, const real* forecast);
  void add_error(OriginErrors& errors, std::size_t unit, std::size_t h, double truth,
                 double forecast, const real* quantiles);

  const SeriesWindows& windows_;
  Split split_;
  std::vector<double> levels_;
  std::vector<Chosen> chosen_;
  std::vector<double> units_, differences_;  // of each series and variate
  Backtest result_;
};

/// Returns the mean absolute error of the model, beside those of the naive forecasts.
Verdict backtest_verdict(const Backtest& backtest);

}  // namespace bochner
