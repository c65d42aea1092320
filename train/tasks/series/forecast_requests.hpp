#pragma once
/// Requests to a forecaster, read from a table, and the table of its forecasts.

#include <bochner/data/series/series_windows.hpp>
#include <bochner/layers/models/forecaster.hpp>
#include <bochner/train/tasks/series/series_data.hpp>

namespace bochner {

/// A request for the rows after one series.
struct ForecastRequest {
  std::vector<std::string> id;
  Tensor past;                 ///< (1, V, L) in the unit of the data
  RowFacts facts;              ///< times, covariates and series of the window
  std::vector<double> coming;  ///< (H) times of the future rows, or empty
  std::size_t rows;            ///< future rows to write
  TimeSeries history = {};     ///< all rows of the series that the table has
  WallClock clock = {};        ///< time zone of the stamps
  TimeStep step = {};          ///< from one future row to the next
  bool asked = false;          ///< whether the table has rows to be forecast
};

/// Rules for tables with requests, made once from config and facts of a forecaster.
struct RequestRules {
  SeriesColumns columns;
  bool carries_forward = false;  ///< missing values become those of the row before
  SeriesSpec windows;            ///< rows, stamps and pauses of the training windows
  const SeriesFacts& facts;      ///< must outlive the rules
};
RequestRules request_rules(const Config& config, const SeriesFacts& facts);
/// Returns the columns that requests need in addition to the time; none without names.
std::vector<std::string> requested_columns(const RequestRules& rules);

/// A table with texts of covariates replaced, the roles of its columns, and its series.
struct PartedTable {
  NamedArray table;
  SeriesColumns columns;
  std::vector<SeriesRows> parts;
};
/// Parts a table. Series that were too short to train on are skipped with a note in `left_out`,
/// unless all are such. Throws DataError for unknown series.
PartedTable parts_of_table(const NamedArray& input, const RequestRules& rules,
                           std::vector<std::string>& left_out);

/// Returns a request for each series of a table, in the order of their first rows. Rows without
/// targets at the end of a series are to be forecast: at their times if the model has data.stamps,
/// else one step apart, with their values if it has data.known, which requires such rows. Series
/// that were too short to train on or have no future rows are skipped with a note in `left_out`,
/// unless all are such. Throws DataError for other series that are unknown or too short, and for
/// rows that do not fit.
std::vector<ForecastRequest> forecast_requests(const NamedArray& input, const RequestRules& rules,
                                               std::vector<std::string>& left_out);

/// Returns the time step of the rows, or the learned one where at least 90 % of the rows agree with
/// it: a week of business days does not show that weekends are skipped. Null: none was learned.
TimeStep step_of(const TimeSeries& series, const TimeStep* learned);
/// Returns the rows after gaps that no window of training crosses, ascending.
std::vector<std::size_t> rows_after_gaps(const TimeSeries& series, const RequestRules& rules,
                                         std::size_t number);

/// Appends a column of the forecasts (H, V, Q) to the history of a request without covariates,
/// which becomes one for the next H rows.
void append_forecast(ForecastRequest& request, const Tensor& forecasts, std::size_t column,
                     const RequestRules& rules);

/// Returns the ends of the names of quantiles: "_0.1"; {""} without any.
std::vector<std::string> quantile_endings(const std::vector<double>& levels);

/// Returns the ends of the names of an interval's bounds: "_0.05" and "_0.95" of level 0.9.
std::vector<std::string> interval_endings(double level);

/// Returns the answers, (H, V, Q) in the unit of the data for each request, as rows of the id
/// columns, the time if there is one, and Q columns of each variate, whose names have these ends.
NamedArray forecast_table(const NamedArray& input, const SeriesColumns& columns,
                          const std::vector<std::string>& names,
                          const std::vector<ForecastRequest>& requests,
                          const std::vector<Tensor>& answers,
                          const std::vector<std::string>& endings);

}  // namespace bochner
