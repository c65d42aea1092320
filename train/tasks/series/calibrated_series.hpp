#pragma once
#include <bochner/train/tasks/learner.hpp>
#include <bochner/train/tasks/series/forecast_answers.hpp>
#include <bochner/train/tasks/series/held_out_rows.hpp>
#include <bochner/train/tasks/series/row_forecasts.hpp>
#include <optional>

namespace bochner {

/// Intervals, anomalies and imputation of a learner of series.
class CalibratedSeries : public UsesCalibration, public ForecastsSeries {
 public:
  void set_calibration(Calibration calibration) override;
  void cover(double level) override;
  NamedArray anomalies(const NamedArray& question) override;
  NamedArray impute(const NamedArray& question) override;

 protected:
  virtual const RequestRules& request_rules() const = 0;

  bool covers() const { return level_ > 0; }
  /// Forgets the intervals and notes of the last answer.
  void begin_answer();
  /// Returns the ends of the names of a forecast and its interval: "", "_0.05", "_0.95".
  std::vector<std::string> interval_endings() const;
  /// Adds lower and upper bounds to point forecasts: adaptive if the series has rows after those of
  /// the calibration, else of split conformal intervals. (H, V, 1) -> (H, V, 3)
  Tensor with_intervals(const Tensor& point, const ForecastRequest& request);
  const std::vector<std::string>& interval_notes() const { return interval_notes_; }

 private:
  /// Returns half the widths, of the first request for a series. (V, H)
  const std::vector<double>& half_widths(const ForecastRequest& request);
  std::vector<double> adapted_half_widths(const ForecastRequest& request, std::size_t from);
  void require_calibrated(std::size_t series, const std::vector<std::string>& id) const;

  HeldOutRows held_;
  double level_ = 0;  // 0 for no intervals
  std::map<std::size_t, std::vector<double>> half_widths_;
  std::vector<std::string> interval_notes_;
};

}  // namespace bochner
