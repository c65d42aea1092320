#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/data/series/series_table.hpp>
#include <bochner/train/tasks/config_templates/event_columns.hpp>
#include <bochner/train/tasks/config_templates/series_inference.hpp>
#include <cmath>
#include <set>

namespace bochner {
namespace {

/// Reads the times, in the last column, and the ids of sequences, in the first, if any.
NamedArray read_log(const std::filesystem::path& file, const InferredTable& table,
                    const LogColumns& log) {
  ReadOptions reading{.csv = table.options};
  const std::string& time = table.names[log.time];
  reading.csv.columns = {time};
  if (log.sequence)
    reading.csv.columns.insert(reading.csv.columns.begin(), table.names[*log.sequence]);
  reading.csv.texts =
      reading.csv.labels = {reading.csv.columns.begin(), reading.csv.columns.end() - 1};
  reading.csv.time = is_among(log.time, table.times) ? time : "";
  reading.csv.missing = "nan";
  return read_array(file, reading);
}

/// Throws DataError if all times but the last are seconds since 1970, as where a sum ends a table.
void require_no_sum(const std::filesystem::path& file, const std::string& column,
                    const std::vector<double>& times) {
  if (times.size() < 3 || is_recent(times.back()) ||
      !std::all_of(times.begin(), times.end() - 1, is_recent))
    return;
  throw DataError(file.string(), ": column ", excerpt(column), ": the last row has ",
                  format_number(times.back()),
                  " where the others have seconds since 1970; remove this row if it is a sum");
}

/// Returns how many different ids a column has.
std::size_t count_ids(const std::filesystem::path& file, const InferredTable& table,
                      std::size_t column) {
  ReadOptions reading{.csv = table.options};
  reading.csv.columns = reading.csv.texts = reading.csv.labels = {table.names[column]};
  reading.csv.time = reading.csv.time_format = "", reading.csv.missing = "nan";
  const NamedArray ids = read_array(file, reading);
  return std::set<double>(ids.values.begin(), ids.values.end()).size();
}

/// Completes a log with its sequences and the format of its times; throws DataError if its last row
/// is a sum.
LogColumns with_format(const std::filesystem::path& file, const InferredTable& table,
                       LogColumns log) {
  if (is_among(log.time, table.numbers)) {
    const NamedArray array = read_log(file, table, {log.time, {}, {}});
    const std::vector<double> times(array.values.begin(), array.values.end());
    require_no_sum(file, table.names[log.time], times);
    log.time_format = format_of_stamps(times, table.names[log.time]);
  }
  if (log.sequence) log.sequences = count_ids(file, table, *log.sequence);
  return log;
}

/// Returns whether times ascend within each sequence, and not by equal steps.
bool is_log(const NamedArray& array) {
  const std::size_t time = array.values.shape()[1] - 1;
  const std::vector<std::string> ids =
      time > 0 ? std::vector<std::string>{array.columns[0]} : std::vector<std::string>();
  bool is_irregular = false;
  for (const SeriesRows& part : rows_of_series(array, ids)) {
    double step = NAN;
    for (std::size_t i = 1; i < part.rows.size(); ++i) {
      const double gap = array.values(part.rows[i], time) - array.values(part.rows[i - 1], time);
      if (!(gap >= 0)) return false;
      is_irregular |= i > 1 && std::abs(gap - step) > 0.1 * step;
      step = gap;
    }
  }
  return is_irregular;
}

/// Returns the column of times: of dates, or of numbers that are named so.
std::optional<std::size_t> clock_of(const InferredTable& table) {
  if (const auto named = time_column(table)) return named;
  for (const char* name : {"date", "datetime", "timestamps", "times", "ts", "unix_time"})
    if (const auto column = table.called(name)) return column;
  return std::nullopt;
}

}  // namespace

std::optional<LogColumns> typed_log(const std::filesystem::path& file, const InferredTable& table) {
  const auto time = time_column(table);
  const auto type = time ? type_column(table, *time) : std::nullopt;
  if (!type) return std::nullopt;
  return with_format(file, table, {*time, type, sequence_column(table, *time, *type)});
}

std::optional<LogColumns> untyped_log(const std::filesystem::path& file, const InferredTable& table,
                                      bool with_values) {
  const auto time = table.has_header ? clock_of(table) : std::nullopt;
  if (!time || !(is_among(*time, table.numbers) || is_among(*time, table.times)))
    return std::nullopt;
  LogColumns log{*time, {}, sequence_column(table, *time, *time)};
  const bool has_others = std::ranges::any_of(
      table.numbers, [&](std::size_t i) { return i != *time && i != log.sequence; });
  const bool are_repeated = log.sequence && 4 * table.texts[*time] < 3 * table.sampled;
  const bool may_have = with_values && are_repeated && is_among(*time, table.compact_dates);
  if (has_others && !may_have) return std::nullopt;
  log = with_format(file, table, log);
  return is_log(read_log(file, table, log)) ? std::optional(log) : std::nullopt;
}

}  // namespace bochner
