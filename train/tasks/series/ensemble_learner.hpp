#pragma once
#include <bochner/layers/forecasts/ensemble.hpp>
#include <bochner/train/tasks/series/calibrated_series.hpp>
#include <bochner/train/tasks/table_learner.hpp>

namespace bochner {

/// A series, and the steps from the row before to each row: 1 without times, and where these are
/// irregular.
struct SteppedSeries {
  const TimeSeries& series;
  std::vector<std::size_t> steps;  ///< (rows)

  explicit SteppedSeries(const TimeSeries& of);
};

/// Returns a variate of the first `rows` rows at equal steps: missing rows get the values of the
/// season before, or lie on a line. Begins after the last gap of more than four seasons.
std::vector<double> regular_rows(const SteppedSeries& stepped, std::size_t variate,
                                 std::size_t rows, std::size_t season);
/// Returns the covariates of the same rows, then `coming`, those of the rows to come. Missing rows
/// have those of the row before. (C, n), (C, H) -> (C, n + H)
std::vector<double> regular_covariates(const SteppedSeries& stepped, std::size_t rows,
                                       std::size_t season, const xt::xarray<double>& coming);
/// Returns the covariates of the H rows from `row` on; those of the last one after the end. (C, H)
xt::xarray<double> covariates_from(const TimeSeries& series, std::size_t row, std::size_t H);

/// Forecasts the rows that follow the last ones of each series, by an Ensemble.
class EnsembleLearner : public TableLearner<SeriesFacts, EnsembleSpec, Ensemble>,
                        public ForecastsRows,
                        public CalibratedSeries {
 public:
  EnsembleLearner(const Config& config, SeriesFacts facts);

  std::string describe() const override;
  std::string loss_unit() const override { return "mae"; }
  std::vector<std::string> series() const override { return facts_.names(); }
  LearnerAbilities abilities() override {
    return {.tables = this, .rows = this, .calibrated = this};
  }
  void forward_specimen(Tape&, std::size_t) override {}

  std::vector<std::string> input_columns() const override {
    return requested_columns(answers_.rules());
  }
  /// Answers the requests of forecast_requests() with the forecast and its bands; after cover(),
  /// with its interval.
  NamedArray predict(const NamedArray& question) override;
  std::vector<std::string> notes() const override;
  void forecast_rows(std::size_t rows) override { answers_.forecast_rows(rows); }

  std::unique_ptr<RowForecasts> forecasts_of(const TimeSeries& series, std::size_t number) override;
  /// Returns the first row that a variate can be forecast from.
  std::size_t first_origin(const SteppedSeries& stepped, std::size_t number) const;
  /// Forecasts from the first `rows` rows of a series, in its unit, given the covariates of the
  /// rows to come (C, H); repeats the last value where the members need more rows. (H)
  EnsembleForecast forecast(const SteppedSeries& stepped, std::size_t number, std::size_t variate,
                            std::size_t rows, const xt::xarray<double>& coming) const;
  std::size_t season() const;
  const SeriesFacts& known() const { return facts_; }

 private:
  const RequestRules& request_rules() const override { return answers_.rules(); }
  std::size_t least_rows(std::size_t channel) const {
    return std::max(spec_.lookback, model_.least_rows(channel));
  }
  /// Throws DataError if the first `rows` rows are too few for a variate.
  void require_rows(const SteppedSeries& stepped, std::size_t number, std::size_t rows) const;

  SeriesAnswers answers_;
};

}  // namespace bochner
