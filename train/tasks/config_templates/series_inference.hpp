#pragma once
/// Inference of the series of a table: their id columns, clock and pauses.

#include <bochner/data/formats/csv.hpp>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bochner {

/// Id columns of the series of a table, and the number of series.
struct SeriesLayout {
  std::vector<std::string> columns = {};
  std::size_t count = 1;
  bool own_times = false;  ///< whether series rarely share times
};
/// Returns the layout of series that share their times: the first candidate, or else the first
/// pair, that splits the table into series of several rows with increasing times. Empty if times
/// rarely repeat, or if no candidates do.
SeriesLayout layout_of_series(const std::filesystem::path& file, const std::string& time,
                              const std::vector<std::string>& candidates,
                              const CsvOptions& options = {});

/// Returns the layout of readings that do not share their times, in order of time or series after
/// series: by columns named like a source (sensor, device, ...), or by a candidate within which the
/// `numbers` of an irregular table change less than from row to row. Empty if times are shared, or
/// if no columns qualify.
SeriesLayout layout_of_readings(const std::filesystem::path& file, const std::string& time,
                                const std::vector<std::string>& candidates,
                                const std::vector<std::string>& numbers,
                                const CsvOptions& options = {});

/// Returns the layout of series that a requested column identifies. Throws DataError unless times
/// increase within each of them.
SeriesLayout layout_by_id(const std::filesystem::path& file, const std::string& time,
                          const std::string& id, const CsvOptions& options = {});

/// Returns whether there are two or more numbers, each larger than the one before.
bool are_increasing(std::span<const double> numbers);

/// Returns data.time_format for a column of increasing numbers: a date format if all are dates
/// without separators (20160701, 201607, 2016, 2016070115, ...), "%s" for seconds and "%Q" for
/// milliseconds since 1970, "" for a counter with equal steps. Returns nothing if the numbers do
/// not increase. Throws DataError for finer units, which no format reads.
std::optional<std::string> format_of_clock(const std::filesystem::path& file,
                                           const std::string& column,
                                           const CsvOptions& options = {});

/// Returns data.time_format for a column of numbers that increase within each series of a table, as
/// format_of_clock() does, but "%s" for counters. Returns nothing for numbers that are neither
/// dates nor seconds or milliseconds since 1970 nor, in each series, rows one after the other
/// counted by one, unless `is_named` like a time.
std::optional<std::string> format_of_clocks(const std::filesystem::path& file,
                                            const std::string& column,
                                            const std::vector<std::string>& series, bool is_named,
                                            const CsvOptions& options = {});

/// Returns data.time_format for times of events in any order, as format_of_clock() does, but ""
/// for numbers that are neither days nor seconds or milliseconds since 1970.
std::string format_of_stamps(std::vector<double> times, const std::string& column);

/// Returns whether times increase by different steps; see TimeStep::is_regular().
bool are_irregular(const std::vector<double>& times);

/// Returns the times of the rows of a table, or of its first series if it has id columns; none if
/// they cannot be read, an error that training reports.
std::vector<double> times_of(const std::filesystem::path& file, const std::string& column,
                             const std::vector<std::string>& series,
                             const CsvOptions& options = {});

/// Returns a column of numbers of a table, without missing ones, or that of its first series if it
/// has id columns; none if they cannot be read.
std::vector<double> values_of(const std::filesystem::path& file, const std::string& column,
                              const std::vector<std::string>& series,
                              const CsvOptions& options = {});

/// Returns whether columns of numbers lack a value in a row that has some.
bool have_missing(const std::filesystem::path& file, const std::vector<std::string>& columns,
                  const CsvOptions& options = {});

/// Sizes of an ensemble of forecasts, in rows.
struct EnsembleSizes {
  std::vector<std::size_t> seasons;  ///< ascending
  std::size_t horizon, lookback;
};
/// Returns the seasons of `rows` rows, a season as the horizon and the rows that a linear map sees.
/// Seasons are those of the calendar, day and week of hours, or else the lag at which the values
/// repeat: the first whose autocorrelation, without linear trend, is within a tenth of the largest
/// and above 0.4, and seven times it if it is 24 or more and they repeat there too.
EnsembleSizes ensemble_sizes(const std::vector<double>& times, const std::vector<double>& values,
                             std::size_t rows);

}  // namespace bochner
