#pragma once
#include <bochner/layers/models/forecaster.hpp>
#include <bochner/train/tasks/series/calibrated_series.hpp>
#include <bochner/train/tasks/table_learner.hpp>

namespace bochner {

/// Forecasts the rows that follow the last ones of each series.
class ForecastLearner : public TableLearner<SeriesFacts, ForecasterSpec, Forecaster>,
                        public ForecastsRows,
                        public CalibratedSeries {
 public:
  ForecastLearner(const Config& config, SeriesFacts facts);

  std::string describe() const override;
  std::string loss_unit() const override;
  Json sizes() const override;
  std::vector<std::string> series() const override { return facts_.names(); }

  LearnerAbilities abilities() override {
    return {.tables = this, .specimens = this, .rows = this, .calibrated = this};
  }
  std::vector<std::string> input_columns() const override {
    return requested_columns(answers_.rules());
  }
  /// Answers the requests of forecast_requests() with forecast_table(); after cover(), with the
  /// point forecast and its interval.
  NamedArray predict(const NamedArray& question) override;
  std::vector<std::string> notes() const override;
  void forecast_rows(std::size_t rows) override { answers_.forecast_rows(rows); }

  std::unique_ptr<RowForecasts> forecasts_of(const TimeSeries& series, std::size_t number) override;

  void forward_specimen(Tape& tape, std::size_t i) override;

  /// Returns the levels of the quantiles; empty for point forecasts.
  std::vector<double> levels() const;
  /// Returns a point forecast: the middle quantile if there are any. (B, V, H[, Q]) -> (B, V, H)
  Tensor point_of(const Tensor& forecast) const;
  /// Returns the batch in the unit of the training data.
  SeriesBatch standardized(SeriesBatch batch);
  /// Forecasts in the unit of the training data. (B, V, L) -> (B, V, H) or (B, V, H, Q)
  Tensor forecast(const Tensor& past, const RowFacts& rows);
  /// Forecasts in the unit of the data, from a past in that unit. (B, V, L) -> (B, V, H[, Q])
  Tensor forecast_in_unit(Tensor past, const RowFacts& rows);

 private:
  const RequestRules& request_rules() const override { return answers_.rules(); }

  SeriesAnswers answers_;
};

/// Returns times, covariates and series of the rows of a batch.
inline RowFacts rows_of(const SeriesBatch& batch) {
  return {batch.times, batch.covariates, batch.series};
}

}  // namespace bochner
