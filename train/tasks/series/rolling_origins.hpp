#pragma once
#include <bochner/data/series/series_windows.hpp>
#include <bochner/train/tasks/series/backtest.hpp>

namespace bochner {

/// Gathers a backtest from what a model says of some windows. Throws std::invalid_argument where
/// the split has too few of them, or too few rows before them for the season.
class RollingOrigins {
 public:
  /// `units` that errors of several variates are counted in, of each series and variate; `levels`
  /// of quantiles, none for single values.
  RollingOrigins(const SeriesWindows& windows, const BacktestPlan& plan, std::vector<double> units,
                 std::vector<double> levels);
  /// The windows to forecast.
  std::size_t size() const { return chosen_.size(); }
  Examples examples(std::size_t first, std::size_t count) const;
  /// Those from `first` on, in the unit of the data. (B, V, H) or (B, V, H, Q)
  void add(std::size_t first, const Tensor& said);
  const Backtest& result() const { return result_; }

 private:
  struct Chosen {
    std::uint64_t window;
    SeriesWindows::Place place;
    std::size_t origin;
  };
  void choose(const BacktestPlan& plan);
  void set_season(std::size_t wanted);
  /// Mean seasonal difference of the training rows; 0 where there is none.
  double difference_of(std::size_t series, std::size_t variate) const;
  void add_value(const Chosen& at, std::size_t variate, std::size_t h, const real* said);
  void add_error(OriginErrors& errors, std::size_t unit, std::size_t h, double truth,
                 double forecast, const real* quantiles);

  const SeriesWindows& windows_;
  Split split_;
  std::vector<double> levels_;
  std::vector<Chosen> chosen_;
  std::vector<double> units_, differences_;  // of each series and variate
  Backtest result_;
};

}  // namespace bochner
