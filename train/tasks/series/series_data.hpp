#pragma once
/// Tables of series as a config describes them, and the facts that models learn from them.

#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/series/series_table.hpp>
#include <bochner/data/series/series_windows.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/series/series_facts.hpp>

namespace bochner {

/// Returns the roles that a config gives to columns.
SeriesColumns series_columns(const Config& config);
/// Returns how to read tables of series. Values stay missing if they are filled in later series by
/// series, or may belong to future rows.
ReadOptions series_options(const Config& config);
/// Returns how to read tables whose time column and time format are known.
ReadOptions series_options(const Config& config, const SeriesFacts& known);
/// The series of a config, and how their table was read.
struct SeriesTable {
  std::vector<TimeSeries> series;
  TextLevels levels;
  std::string time = "", time_format = "";
};
/// Reads the table of a config, known series first in their order. Throws DataError for files that
/// are not such a table.
SeriesTable read_series(const Config& config, const KnownFacts& known);
/// Returns the windows of a config: data.lookback, data.horizon and others.
SeriesSpec series_spec(const Config& config);
/// Returns the facts of these windows, or the known ones if data may not extend them. Throws
/// DataError for data that do not fit the known facts.
SeriesFacts series_facts(const Config& config, const SeriesTable& table,
                         const SeriesWindows& windows, const KnownFacts& known);
/// Returns facts for a model without data: one series of one variate.
SeriesFacts smallest_series_facts(const Config& config);
/// Returns whether missing values are filled series by series; if not, the reader fills them.
bool carries_forward(const Config& config, const SeriesColumns& columns);
/// Throws ConfigError if keys of series or of forecasters contradict each other.
void check_series(const Config& config);

}  // namespace bochner
