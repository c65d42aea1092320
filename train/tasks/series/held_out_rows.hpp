#pragma once
/// Intervals and p-values of forecasts from their held-out errors.

#include <bochner/autodiff/tensor.hpp>
#include <bochner/base/numeric/conformal.hpp>
#include <bochner/data/series/series_table.hpp>
#include <bochner/train/tasks/conformal/calibration.hpp>
#include <map>
#include <vector>

namespace bochner {

/// Held-out errors by channel (variate of a series) and lead (row of the horizon). Where a channel
/// has fewer than 100 origins, the leads share their errors, each in its mean absolute error.
class HeldOutRows {
 public:
  explicit HeldOutRows(Calibration calibration = {}) : calibration_(std::move(calibration)) {}
  bool exists() const { return !calibration_.channels.empty(); }
  const Calibration& calibration() const { return calibration_; }

  /// Returns absolute errors of one lead, wider where few of them are independent: by the quantile
  /// of Student's t at the level, over the normal one.
  std::vector<double> scores(std::size_t channel, std::size_t lead, double level) const;
  /// Returns half the width of split conformal intervals. Throws std::invalid_argument if there are
  /// too few errors for the level. (H)
  std::vector<double> half_widths(std::size_t channel, double level) const;
  /// Returns the ranks of the absolute errors of one lead.
  const ConformalRanks& ranks(std::size_t channel, std::size_t lead);

 private:
  Calibration calibration_;
  std::map<std::size_t, ConformalRanks> ranks_;
};

/// Adaptive intervals of one series: every origin learns from the errors of rows before it.
class AdaptiveRows {
 public:
  AdaptiveRows(const HeldOutRows& held, std::size_t series, std::size_t variates, double level);
  /// Learns the rows before `origin`, later than all origins so far.
  void advance(std::size_t origin, const TimeSeries& series);
  /// Returns half the width of the next interval.
  double half_width(std::size_t variate, std::size_t lead) const;
  /// Adds a forecast from `origin`, to be compared with rows as they become known. (V, H)
  void add(std::size_t origin, const real* forecast);

 private:
  struct Promise {
    std::size_t origin;
    std::vector<double> forecast, half_widths;  // (V, H)
  };
  std::size_t variates_, leads_;
  std::vector<AdaptiveConformal> intervals_;  // (V, H)
  std::vector<Promise> promises_;
  std::vector<std::size_t> next_;  // (H) the first promise that is not yet compared
};

/// Returns runs of rows whose values change by less than a twentieth of the median change, among
/// the first rows of a variate.
Stillness stillness_of(const double* values, std::size_t rows);

}  // namespace bochner
