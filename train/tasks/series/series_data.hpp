#pragma once
/// Tables of series as a config describes them, and the facts that models learn from them.

#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/series/series_table.hpp>
#include <bochner/data/series/series_windows.hpp>
#include <bochner/data/series/text_covariates.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/series/series_facts.hpp>

namespace bochner {

/// What a config says that the columns of a series are.
SeriesColumns series_columns(const Config& config);
/// How such a table is read. Several series fill in what is missing one by one, and rows to come
/// have no values: both are left missing here.
ReadOptions series_options(const Config& config);
/// The same where the column of time stamps and their format are known.
ReadOptions series_options(const Config& config, const SeriesFacts& known);
/// The series of a config, and how their table was read.
struct SeriesTable {
  std::vector<TimeSeries> series;
  TextLevels levels;
  std::string time = "", time_format = "";
};
/// Of its file, with the names in the order of those that are known. Throws DataError where that is
/// no such table.
SeriesTable read_series(const Config& config, const KnownFacts& known);
/// The windows and lookback and horizon of data.*, which a kind may change.
SeriesSpec series_spec(const Config& config);
/// What is learned from the windows of this table, or what is known, where data may not extend it.
/// Throws DataError where these are not data of what is known.
SeriesFacts series_facts(const Config& config, const SeriesTable& table,
                         const SeriesWindows& windows, const KnownFacts& known);
/// Of a model that has seen no data: one series of one variate.
SeriesFacts smallest_series_facts(const Config& config);
/// What is missing becomes the value of the row before, series by series: else the reader does it.
bool carries_forward(const Config& config, const SeriesColumns& columns);
/// Throws ConfigError where keys of series and of forecasters do not fit.
void check_series(const Config& config);

}  // namespace bochner
