#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/tasks/config_templates/clocked_series.hpp>

namespace bochner {
namespace {

/// Returns whether a word of a name is one of times: timestamp, unix_time, Year, time (s).
bool names_a_clock(std::string name) {
  constexpr std::string_view words[] = {"time", "timestamp", "date",     "datetime", "ds", "ts",
                                        "unix", "epoch",     "unixtime", "year",     "yr"};
  std::ranges::replace_if(
      name, [](char c) { return std::string_view("_ -.()[]").find(c) != std::string_view::npos; },
      ',');
  return std::ranges::any_of(split_list(lower_case(name)), [&](const std::string& word) {
    return std::ranges::find(words, word) != std::end(words);
  });
}

/// Returns the columns of numbers that may be times: those named like one, then compact dates.
std::vector<std::size_t> clocks_of(const InferredTable& table) {
  std::vector<std::size_t> clocks;
  if (!table.request.time.empty()) return {*table.called(lower_case(table.request.time))};
  for (const std::size_t i : table.numbers)
    if (names_a_clock(table.names[i])) clocks.push_back(i);
  clocks.insert(clocks.end(), table.compact_dates.begin(), table.compact_dates.end());
  return clocks;
}

/// Returns the table with a column of numbers as its times.
InferredTable with_times(const InferredTable& table, std::size_t column,
                         const std::string& format) {
  InferredTable series = table;
  std::erase(series.numbers, column);
  std::erase(series.whole_numbers, column);
  series.times.push_back(column);
  series.options.time = table.names[column];
  series.options.time_format = format;
  return series;
}

/// Returns the layout of series within which a column of numbers increases. Their ids are texts, or
/// whole numbers: those named like a source, or any if the clock `is_named` like one.
SeriesLayout layout_by_clock(const std::filesystem::path& file, const InferredTable& table,
                             bool is_named) try {
  if (const std::string& id = table.request.id; !id.empty())
    return with_targets(layout_by_id(file, table.options.time, id, table.options), table);
  std::vector<std::string> candidates = names_of(table, table.words);
  for (const std::size_t i : table.whole_numbers)
    if (is_named || names_a_source(table.names[i])) candidates.push_back(table.names[i]);
  if (candidates.empty()) return {};
  const std::string& time = table.options.time;
  SeriesLayout layout = layout_of_series(file, time, candidates, table.options);
  if (layout.columns.empty())
    layout =
        layout_of_readings(file, time, candidates, names_of(table, table.numbers), table.options);
  return with_targets(layout, table);
} catch (const DataError&) {
  return {};  // missing numbers, and those such as 1e3, are not times
}

}  // namespace

std::vector<std::string> names_of(const InferredTable& table,
                                  const std::vector<std::size_t>& columns) {
  std::vector<std::string> names;
  for (const std::size_t i : columns) names.push_back(table.names[i]);
  return names;
}

SeriesLayout with_targets(const SeriesLayout& layout, const InferredTable& table) {
  const bool leaves_some = std::ranges::any_of(table.numbers, [&](std::size_t i) {
    return std::ranges::count(layout.columns, table.names[i]) == 0;
  });
  return leaves_some ? layout : SeriesLayout();
}

std::optional<InferredTable> with_clock(const std::filesystem::path& file,
                                        const InferredTable& table) {
  if (!table.times.empty() || !table.has_header || table.numbers.empty()) return std::nullopt;
  for (const std::size_t column : clocks_of(table)) {
    const auto format = format_of_clock(file, table.names[column], table.options);
    if (!format) continue;
    InferredTable series = with_times(table, column, *format);
    if (!format->empty()) return series;
    series.times = {}, series.options = table.options;
    series.row_numbers.push_back(column);
    return series;
  }
  return std::nullopt;
}

std::optional<ClockedSeries> series_with_clock(const std::filesystem::path& file,
                                               const InferredTable& table) {
  if (!table.times.empty() || !table.has_header) return std::nullopt;
  std::vector<std::size_t> clocks = clocks_of(table);
  for (const char* name :
       {"t", "hour", "day", "week", "month", "quarter", "year", "period", "step"})
    if (const auto column = table.called(name);
        column && table.request.time.empty() && std::ranges::count(table.whole_numbers, *column))
      clocks.push_back(*column);
  const std::size_t named = clocks.size();
  for (const std::size_t i : table.rising)
    if (!names_a_source(table.names[i]) && table.request.time.empty()) clocks.push_back(i);
  for (std::size_t i = 0; i < clocks.size(); ++i) {
    const SeriesLayout layout =
        layout_by_clock(file, with_times(table, clocks[i], "%s"), i < named);
    if (layout.columns.empty()) continue;
    const auto format =
        format_of_clocks(file, table.names[clocks[i]], layout.columns, i < named, table.options);
    if (format) return ClockedSeries{with_times(table, clocks[i], *format), layout};
  }
  return std::nullopt;
}

}  // namespace bochner
