#include <algorithm>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/data/series_table.hpp>
#include <bochner/train/tasks/starter_series.hpp>
#include <cmath>
#include <set>

namespace bochner {
namespace {

constexpr std::size_t fewest_rows = 8;  // of a series, in the mean
constexpr double latest_second = 1e11;  // beyond the year 5000; milliseconds since 1974 are more

bool goes_on(const NamedArray& table, const std::vector<SeriesRows>& parts) {
  return std::ranges::all_of(parts, [&](const SeriesRows& part) {
    return std::ranges::adjacent_find(part.rows, [&](std::size_t one, std::size_t next) {
             return table.values(next, *table.time) <= table.values(one, *table.time);
           }) == part.rows.end();
  });
}

/// Series have times in common; events hardly.
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

/// One by one, then two by two.
std::vector<std::vector<std::string>> id_choices(const std::vector<std::string>& candidates) {
  std::vector<std::vector<std::string>> choices;
  for (const std::string& one : candidates) choices.push_back({one});
  for (std::size_t i = 0; i < candidates.size(); ++i)
    for (std::size_t j = i + 1; j < candidates.size(); ++j)
      choices.push_back({candidates[i], candidates[j]});
  return choices;
}

/// 20160701
bool is_calendar_number(double number) {
  return number >= 1900'01'01 && number <= 2199'12'31 && number == std::floor(number) &&
         parse_time(std::to_string(std::uint32_t(number)), "%Y%m%d");
}

}  // namespace

SeriesLayout layout_of_series(const std::filesystem::path& file, const std::string& time,
                              const std::vector<std::string>& candidates,
                              const CsvOptions& options) {
  ReadOptions reading{.csv = options};
  reading.csv.columns = {time};
  reading.csv.columns.insert(reading.csv.columns.end(), candidates.begin(), candidates.end());
  reading.csv.texts = candidates;
  reading.csv.labels = candidates;
  reading.csv.missing = "nan";
  const NamedArray table = read_array(file, reading);
  if (!table.time || !has_times_in_common(table)) return {};
  for (const std::vector<std::string>& columns : id_choices(candidates)) {
    if (!std::ranges::all_of(columns, [&](const auto& name) { return has_all(table, name); }))
      continue;
    const std::vector<SeriesRows> parts = rows_of_series(table, columns);
    if (parts.size() * fewest_rows <= table.values.shape()[0] && goes_on(table, parts))
      return {columns, parts.size()};
  }
  return {};
}

bool go_on(std::span<const double> numbers) {
  const auto goes_back = [](double one, double next) { return !(one < next); };
  return numbers.size() > 1 && std::ranges::adjacent_find(numbers, goes_back) == numbers.end();
}

std::optional<std::string> format_of_clock(const std::filesystem::path& file,
                                           const std::string& column, const CsvOptions& options) {
  ReadOptions reading{.csv = options};
  reading.csv.columns = {column};
  reading.csv.missing = "nan";
  const xt::xarray<double> table = read_array(file, reading).values;
  const std::span<const double> numbers(table.data(), table.size());
  if (!go_on(numbers)) return std::nullopt;
  if (std::ranges::all_of(numbers, is_calendar_number)) return "%Y%m%d";
  const auto is_whole = [](double number) { return number == std::floor(number); };
  if (!std::ranges::all_of(numbers, is_whole)) return std::nullopt;
  const double largest = std::max(-numbers.front(), numbers.back());
  if (largest < latest_second) return "%s";
  return largest < 1000 * latest_second ? std::optional("%Q") : std::nullopt;
}

}  // namespace bochner
