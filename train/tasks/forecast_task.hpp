#pragma once
#include <bochner/data/series_windows.hpp>
#include <bochner/layers/models/forecaster.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/forecast_report.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// What comes after the last rows of a multivariate series.
class ForecastTask : public Task {
 public:
  explicit ForecastTask(const Config& config);
  Module& model() override { return model_; }
  const Dataset& data() const override { return windows_; }
  Var loss(Tape& tape, const Examples& examples) override;
  Evaluation evaluate(Tape& tape, const Examples& examples) override;
  std::vector<std::string> input_columns() const override { return windows_.series().names; }
  /// The rows after the last: (rows >= L, columns) -> (H, V), behind a column of times where the
  /// input has one.
  NamedArray predict(const NamedArray& input) override;
  void illustrate(Page& page) override;
  std::string loss_unit() const override { return spec_.loss; }
  std::string describe_model() const override;

 private:
  /// Windows in the unit of the training data.
  SeriesBatch standardized(SeriesBatch batch);
  /// (B, V, L) in the unit of the training data -> (B, V, H) in the same
  Tensor forecast(const Tensor& past);
  /// Some variates of one window.
  std::vector<ForecastPicture> pictures(Split split, std::size_t window);
  /// Of the model and of the last value, over all windows.
  std::vector<HorizonErrors> horizon_errors(Split split);

  SeriesWindows windows_;
  ForecasterSpec spec_;
  Forecaster model_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
