#pragma once
/// What is asked of a forecaster by a table, and the table that answers it.

#include <bochner/data/series/series_windows.hpp>
#include <bochner/layers/models/forecaster.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/series/series_facts.hpp>

namespace bochner {

/// The rows that follow the last ones of one series.
struct ForecastRequest {
  std::vector<std::string> id;
  Tensor past;                 ///< (1, V, L) in the unit of the data
  RowFacts facts;              ///< of the one window
  std::vector<double> coming;  ///< (H) times of the rows to come, or empty
  std::size_t rows;            ///< of them that are asked for
  WallClock clock = {};        ///< of the stamps
};

/// What questions to a forecaster may hold: made once, from its config and its facts.
struct RequestRules {
  SeriesColumns columns;
  bool carries_forward = false;  ///< what is missing becomes the value of the row before
  SeriesSpec windows;            ///< rows, stamps and pauses of the training windows
  SeriesFacts facts;
};
RequestRules request_rules(const Config& config, const SeriesFacts& facts);

/// One for each series of a table, in the order of their first rows. A series that ends in rows
/// without targets asks for these: where the model sees stamps, at their times; where it has known
/// columns, with their values, and then it must, step by step. Where others can be answered, those
/// that were too short to be learned or have no rows to come are left out, which `left_out` says.
/// Throws DataError for other series that the model does not know or that are too short, by name,
/// and for rows that do not fit.
std::vector<ForecastRequest> forecast_requests(const NamedArray& input, const RequestRules& rules,
                                               std::vector<std::string>& left_out);

/// The answers, (H, V) or (H, V, Q) in the unit of the data for each request, as rows: the columns
/// that tell series apart, the time if there is one, and the variates, or the quantiles of each.
NamedArray forecast_table(const NamedArray& input, const SeriesColumns& columns,
                          const std::vector<std::string>& names,
                          const std::vector<ForecastRequest>& requests,
                          const std::vector<Tensor>& answers, const std::vector<double>& quantiles);

}  // namespace bochner
