#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/data/series/series_windows.hpp>
#include <bochner/train/tasks/config_templates/series_inference.hpp>
#include <bochner/train/tasks/config_templates/table_inference.hpp>
#include <cmath>
#include <set>

namespace bochner {
namespace {

constexpr std::size_t fewest_rows = 8;  // of a series, on average

bool times_increase(const NamedArray& table, const std::vector<SeriesRows>& parts) {
  return std::ranges::all_of(parts, [&](const SeriesRows& part) {
    return std::ranges::adjacent_find(part.rows, [&](std::size_t one, std::size_t next) {
             return table.values(next, *table.time) <= table.values(one, *table.time);
           }) == part.rows.end();
  });
}

/// Returns whether at least a quarter of the rows repeat a time, as in series but not in events.
bool has_times_in_common(const NamedArray& table) {
  std::set<double> times;
  for (std::size_t row = 0; row < table.values.shape()[0]; ++row)
    times.insert(table.values(row, *table.time));
  return 4 * times.size() <= 3 * table.values.shape()[0];
}

bool has_all(const NamedArray& table, const std::string& column) {
  const auto index = find_column(table.columns, table.values.shape()[1], column);
  for (std::size_t row = 0; index && row < table.values.shape()[0]; ++row)
    if (std::isnan(table.values(row, *index))) return false;
  return index.has_value();
}

/// Returns each candidate, then each pair of them.
std::vector<std::vector<std::string>> id_choices(const std::vector<std::string>& candidates) {
  std::vector<std::vector<std::string>> choices;
  for (const std::string& one : candidates) choices.push_back({one});
  for (std::size_t i = 0; i < candidates.size(); ++i)
    for (std::size_t j = i + 1; j < candidates.size(); ++j)
      choices.push_back({candidates[i], candidates[j]});
  return choices;
}

bool is_contiguous(const SeriesRows& part) {
  return part.rows.back() - part.rows.front() + 1 == part.rows.size();
}

/// Counts the rows that belong to another series than the row before.
std::size_t switches(const std::vector<SeriesRows>& parts) {
  std::size_t count = 0;
  for (const SeriesRows& part : parts)
    for (std::size_t i = 0; i < part.rows.size(); ++i)
      count += part.rows[i] > 0 && (i == 0 || part.rows[i] != part.rows[i - 1] + 1);
  return count;
}

bool take_turns(const std::vector<SeriesRows>& parts, std::size_t rows) {
  return 4 * switches(parts) >= rows;
}

/// Returns whether a column changes less than half as much between rows of a series as between
/// neighbouring rows of the table.
bool follow_their_own(const NamedArray& values, const std::vector<SeriesRows>& parts) {
  for (std::size_t column = 0; column < values.values.shape()[1]; ++column) {
    double own = 0, other = 0;
    for (const SeriesRows& part : parts)
      for (std::size_t i = 1; i < part.rows.size(); ++i) {
        const std::size_t row = part.rows[i];
        const double x = values.values(row, column);
        const double to_own = std::abs(x - values.values(part.rows[i - 1], column)),
                     to_other = std::abs(x - values.values(row - 1, column));
        if (std::isnan(to_own) || std::isnan(to_other)) continue;
        own += to_own, other += to_other;
      }
    if (2 * own < other) return true;
  }
  return false;
}

/// Reads the time column and the possible id columns of a table.
NamedArray read_layout(const std::filesystem::path& file, const std::string& time,
                       const std::vector<std::string>& candidates, const CsvOptions& options) {
  ReadOptions reading{.csv = options};
  reading.csv.columns = {time};
  reading.csv.columns.insert(reading.csv.columns.end(), candidates.begin(), candidates.end());
  reading.csv.texts = candidates;
  reading.csv.labels = candidates;
  reading.csv.missing = "nan";
  return read_array(file, reading);
}

NamedArray read_numbers(const std::filesystem::path& file, const std::vector<std::string>& columns,
                        const CsvOptions& options) {
  ReadOptions reading{.csv = options};
  reading.csv.columns = columns;
  reading.csv.time = reading.csv.time_format = "";
  reading.csv.missing = "nan";
  return read_array(file, reading);
}

/// Returns candidates named like a source, each of which splits the table into more series.
std::vector<std::string> named_sources(const NamedArray& table,
                                       const std::vector<std::string>& candidates) {
  std::vector<std::string> chosen;
  std::size_t count = 1;
  for (const std::string& name : candidates) {
    if (!names_a_source(name) || !has_all(table, name)) continue;
    std::vector<std::string> columns = chosen;
    columns.push_back(name);
    const std::size_t parts = rows_of_series(table, columns).size();
    if (parts <= count || parts * fewest_rows > table.values.shape()[0]) continue;
    chosen = columns;
    count = parts;
  }
  return chosen;
}

constexpr double earliest_second = 1e8;  // 1973; smaller numbers do not count from 1970

struct DateFormat {
  std::size_t digits;
  const char* format;
};
constexpr DateFormat date_formats[] = {{14, "%Y%m%d%H%M%S"}, {12, "%Y%m%d%H%M"}, {10, "%Y%m%d%H"},
                                       {8, "%Y%m%d"},        {6, "%Y%m"},        {4, "%Y"}};

/// Returns whether a number is a date of a plausible year: 1900 to 2199, or from 1000 for years
/// alone.
bool is_date(double number, const DateFormat& as) {
  if (!(number >= 1000 && number < 1e15) || number != std::floor(number)) return false;
  const std::string text = std::to_string(std::uint64_t(number));
  if (text.size() != as.digits || !parse_time(text, as.format)) return false;
  const std::string year = text.substr(0, 4);
  return year < "2200" && (as.digits == 4 || year >= "1900");
}

std::optional<std::string> format_of_dates(const std::vector<double>& numbers) {
  for (const DateFormat& each : date_formats)
    if (std::ranges::all_of(numbers, [&](double number) { return is_date(number, each); }))
      return each.format;
  return std::nullopt;
}

bool is_counter(const std::vector<double>& numbers) {
  const TimeStep step = TimeStep::of_numbers(numbers);
  const auto is_gap = [&](double one, double next) { return step.between(one, next) != 1; };
  return step.is_regular() && std::ranges::adjacent_find(numbers, is_gap) == numbers.end();
}

/// Returns whether increasing numbers of so many parts of a second are from 1990 to 2100.
bool is_since_1970(const std::vector<double>& numbers, double parts_of_second) {
  return is_recent(numbers.front() / parts_of_second) &&
         is_recent(numbers.back() / parts_of_second);
}

/// Throws DataError for increasing numbers that may be finer than milliseconds and are not dates.
void require_no_microseconds(const std::vector<double>& numbers, const std::string& column) {
  constexpr double fewest = 1e14;
  if (std::max(-numbers.front(), numbers.back()) >= fewest && !format_of_dates(numbers))
    throw DataError("column ", excerpt(column), ": ", std::to_string(std::llround(numbers.back())),
                    " looks like microseconds or nanoseconds, which data.time_format cannot read; "
                    "write milliseconds since 1970, or dates");
}

/// Returns whether the numbers are years with decimals: 1959.25.
bool are_decimal_years(const std::vector<double>& numbers) {
  return numbers.front() >= 1000 && numbers.back() < 2200 &&
         std::ranges::any_of(numbers, [](double year) { return year != std::floor(year); });
}

std::optional<std::string> format_of_numbers(const std::vector<double>& numbers,
                                             const std::string& column) {
  require_no_microseconds(numbers, column);
  if (const auto format = format_of_dates(numbers)) return format;
  if (is_since_1970(numbers, 1000)) return "%Q";
  const bool is_small = std::max(-numbers.front(), numbers.back()) < earliest_second;
  return is_small && !are_decimal_years(numbers) && is_counter(numbers) ? "" : "%s";
}

}  // namespace

SeriesLayout layout_of_series(const std::filesystem::path& file, const std::string& time,
                              const std::vector<std::string>& candidates,
                              const CsvOptions& options) {
  const NamedArray table = read_layout(file, time, candidates, options);
  if (!table.time || !has_times_in_common(table)) return {};
  for (const std::vector<std::string>& columns : id_choices(candidates)) {
    if (!std::ranges::all_of(columns, [&](const auto& name) { return has_all(table, name); }))
      continue;
    const std::vector<SeriesRows> parts = rows_of_series(table, columns);
    if (parts.size() * fewest_rows <= table.values.shape()[0] && times_increase(table, parts))
      return {columns, parts.size()};
  }
  return {};
}

SeriesLayout layout_of_readings(const std::filesystem::path& file, const std::string& time,
                                const std::vector<std::string>& candidates,
                                const std::vector<std::string>& numbers,
                                const CsvOptions& options) {
  const NamedArray table = read_layout(file, time, candidates, options);
  if (!table.time || has_times_in_common(table)) return {};
  const std::size_t rows = table.values.shape()[0];
  std::vector<double> times;
  for (std::size_t row = 0; row < rows; ++row) times.push_back(table.values(row, *table.time));
  const bool ascend = are_increasing(times), irregular = are_irregular(times);
  const auto is_layout = [&](const std::vector<SeriesRows>& parts, const auto& are_several) {
    if (parts.size() < 2 || parts.size() * fewest_rows > rows || !times_increase(table, parts))
      return false;
    if (!ascend && std::ranges::all_of(parts, is_contiguous)) return true;
    return take_turns(parts, rows) && are_several(parts);
  };
  const std::vector<std::string> named = named_sources(table, candidates);
  if (const auto parts = rows_of_series(table, named); is_layout(parts, [](auto&) { return true; }))
    return {named, parts.size(), true};
  for (const std::string& column : candidates) {
    if (!has_all(table, column)) continue;
    std::vector<std::string> others = numbers;
    std::erase(others, column);
    const auto are_several = [&](const std::vector<SeriesRows>& parts) {
      return irregular && !others.empty() &&
             follow_their_own(read_numbers(file, others, options), parts);
    };
    if (const auto parts = rows_of_series(table, {column}); is_layout(parts, are_several))
      return {{column}, parts.size(), true};
  }
  return {};
}

SeriesLayout layout_by_id(const std::filesystem::path& file, const std::string& time,
                          const std::string& id, const CsvOptions& options) {
  const NamedArray table = read_layout(file, time, {id}, options);
  const std::vector<SeriesRows> parts = rows_of_series(table, {id});
  if (!table.time || !times_increase(table, parts))
    throw DataError(file.string(), ": --id ", id, ": column ", excerpt(time),
                    " does not increase within each of its series; choose another --id or --time");
  return {{id}, parts.size(), !has_times_in_common(table)};
}

bool are_increasing(std::span<const double> numbers) {
  const auto decreases = [](double one, double next) { return !(one < next); };
  return numbers.size() > 1 && std::ranges::adjacent_find(numbers, decreases) == numbers.end();
}

std::optional<std::string> format_of_clock(const std::filesystem::path& file,
                                           const std::string& column, const CsvOptions& options) {
  ReadOptions reading{.csv = options};
  reading.csv.columns = {column};
  reading.csv.missing = "nan";
  const xt::xarray<double> table = read_array(file, reading).values;
  const std::vector<double> numbers(table.data(), table.data() + table.size());
  if (!are_increasing(numbers)) return std::nullopt;
  const auto format = format_of_numbers(numbers, column);
  CsvOptions as = options;
  as.time_format = format.value_or("");
  const bool is_read = as.time_format.empty() || !times_of(file, column, {}, as).empty();
  return is_read ? format : std::nullopt;  // %s does not read 1.7e9
}

std::optional<std::string> format_of_clocks(const std::filesystem::path& file,
                                            const std::string& column,
                                            const std::vector<std::string>& series, bool is_named,
                                            const CsvOptions& options) {
  CsvOptions as = options;
  as.time = column, as.time_format = "%s";
  const NamedArray table = read_layout(file, column, series, as);
  std::vector<double> all;
  bool counts = true;
  for (const SeriesRows& part : rows_of_series(table, series)) {
    std::vector<double> times;
    for (const std::size_t row : part.rows) times.push_back(table.values(row, 0));
    counts &= is_contiguous(part) && times.back() - times.front() + 1 == double(times.size());
    all.insert(all.end(), times.begin(), times.end());
  }
  std::ranges::sort(all);
  require_no_microseconds(all, column);
  const auto dates = format_of_dates(all);
  if (dates && (is_named || *dates != "%Y")) return dates;
  if (is_since_1970(all, 1000)) return "%Q";
  const bool are_times = is_named || counts || is_since_1970(all, 1);
  return are_times ? std::optional<std::string>("%s") : std::nullopt;
}

std::string format_of_stamps(std::vector<double> times, const std::string& column) {
  std::erase_if(times, [](double time) { return std::isnan(time); });
  if (times.empty()) return "";
  std::ranges::sort(times);
  require_no_microseconds(times, column);
  constexpr double first_day = 19000101;
  const auto dates = times.front() >= first_day ? format_of_dates(times) : std::nullopt;
  if (dates) return *dates;
  return is_since_1970(times, 1000) ? "%Q" : is_since_1970(times, 1) ? "%s" : "";
}

bool are_irregular(const std::vector<double>& times) {
  return are_increasing(times) && !TimeStep(times).is_regular();
}

}  // namespace bochner
