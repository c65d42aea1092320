#pragma once
/// Tables of series as a config describes them, and the facts that models learn from them.

#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/series/series_table.hpp>
#include <bochner/data/series/series_windows.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/serialize.hpp>
#include <optional>

namespace bochner {

template <class Archive>
void serialize(Archive& archive, SeriesBatch& batch) {
  serialize_array(archive, batch.past);
  serialize_array(archive, batch.future);
  serialize_array(archive, batch.times);
  serialize_array(archive, batch.covariates);
  archive(batch.series);
}

struct SeriesFacts {
  static constexpr const char* kind = "series";
  std::uint64_t variates = 1, channels = 0;          ///< of a row; channels: of its covariates
  std::uint64_t lookback = 1, horizon = 1;           ///< rows of a window, and rows after it
  std::uint64_t examples = 0;                        ///< training windows
  std::vector<std::string> columns = {};             ///< names of the variates; empty without names
  std::vector<std::string> series = {};              ///< id columns of the series
  std::vector<std::vector<std::string>> ids = {{}};  ///< values of the id columns by series
  std::vector<std::vector<std::string>> left_out = {};  ///< ids of series too short to train on
  TextLevels levels = {};                               ///< of the covariates that are texts
  std::string time = "", time_format = "";              ///< the column of time stamps
  std::vector<TimeStep> steps = {};                     ///< the different time steps
  std::vector<std::uint64_t> step_of = {};  ///< index in `steps` by series; empty without times
  std::uint8_t crosses_pauses = 0;          ///< SeriesWindows::crosses_pauses()
  std::vector<SeriesBatch> specimens = {};

  template <class Archive>
  void serialize(Archive& archive) {
    std::vector<std::string> turns = flattened_levels(levels);
    archive(variates, channels, lookback, horizon, examples, columns, series, ids, left_out, turns,
            time, time_format, steps, step_of, crosses_pauses, specimens);
    levels = merged_levels(turns, {});
  }
  void check() const;

  /// Returns the number of the series with this id.
  std::optional<std::size_t> number_of(const std::vector<std::string>& id) const;
  /// Returns the time step of a series, null without times.
  const TimeStep* step(std::size_t number) const;
  /// Returns names of the series to show; none for a single one.
  std::vector<std::string> names() const;
};

/// Returns the name of a variate to show, with the series if there are several.
std::string variate_name(const TimeSeries& series, std::size_t variate);
/// Returns the roles that a config gives to columns.
SeriesColumns series_columns(const Config& config);
/// Returns how to read tables of series. Values stay missing if they are filled in later series by
/// series, or may belong to future rows.
ReadOptions series_options(const Config& config);
/// Returns how to read tables whose time column and time format are known.
ReadOptions series_options(const Config& config, const SeriesFacts& known);
/// Returns how to read tables that may end with future rows, whose values are missing.
ReadOptions question_options(const Config& config, const SeriesFacts& known);
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
/// Throws ConfigError for quantiles of a loss that do not ascend.
void check_quantiles(const Config& config);

}  // namespace bochner
