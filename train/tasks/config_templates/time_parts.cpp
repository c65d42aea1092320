#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/train/tasks/config_templates/series_inference.hpp>
#include <bochner/train/tasks/config_templates/time_parts.hpp>

namespace bochner {
namespace {

/// Columns of a time, the first of which is the time column, and the format of their texts.
struct TimeParts {
  std::vector<std::size_t> columns;
  std::string format;
};

struct PartNames {
  const char* directive;
  std::vector<std::string_view> names;
};

std::optional<std::size_t> column_of(const InferredTable& table, const PartNames& part) {
  for (const std::string_view name : part.names)
    if (const auto column = table.called(name)) return column;
  return std::nullopt;
}

const PartNames years{"%Y", {"year", "yr", "yyyy"}}, iso_years{"%G", {"year", "yr", "iso_year"}},
    quarters{"%q", {"quarter", "qtr", "q"}}, weeks{"%V", {"week", "wk", "iso_week"}},
    months{"%m", {"month", "mon", "mo", "mm", "mnth"}},
    month_names{"%b", {"month", "mon", "mo", "mnth"}},
    days{"%d", {"day", "dd", "dom", "mday", "day_of_month"}},
    hours{"%H", {"hour", "hr", "hh", "hours"}}, minutes{"%M", {"minute", "min"}};

/// Returns the leading columns of a chain that the table has, two at least.
std::optional<TimeParts> chain_of(const InferredTable& table,
                                  const std::vector<const PartNames*>& chain) {
  TimeParts parts;
  for (const PartNames* part : chain) {
    const auto column = column_of(table, *part);
    if (!column) break;
    parts.columns.push_back(*column);
    parts.format += std::string(parts.format.empty() ? "" : " ") + part->directive;
  }
  return parts.columns.size() > 1 ? std::optional(parts) : std::nullopt;
}

/// Returns what the columns may be: chains from the year, or the first dates with a time of day.
std::vector<TimeParts> choices_of(const InferredTable& table) {
  std::vector<TimeParts> all;
  if (!table.times.empty()) {
    const std::string date = table.time_format.empty() ? "%Y-%m-%d" : table.time_format;
    for (const auto& [column, clock] : table.clocks)
      all.push_back({{table.times[0], column}, date + " " + clock});
    if (const auto hour = column_of(table, hours))
      all.push_back({{table.times[0], *hour}, date + " %H"});
    return all;
  }
  for (const auto& chain :
       std::vector<std::vector<const PartNames*>>{{&years, &months, &days, &hours, &minutes},
                                                  {&years, &month_names, &days, &hours, &minutes},
                                                  {&years, &quarters},
                                                  {&iso_years, &weeks}})
    if (const auto parts = chain_of(table, chain)) all.push_back(*parts);
  if (const auto month = chain_of(table, {&years, &months, &days}); month && !table.clocks.empty())
    for (const auto& [column, clock] : table.clocks) {
      TimeParts parts = *month;
      parts.columns.push_back(column), parts.format += " " + clock;
      all.insert(all.begin(), parts);
    }
  return all;
}

InferredTable with_parts(InferredTable table, const TimeParts& parts) {
  for (const std::size_t column : parts.columns)
    for (auto* kind : {&table.numbers, &table.whole_numbers, &table.rising, &table.words,
                       &table.times, &table.compact_dates})
      std::erase(*kind, column);
  table.times.insert(table.times.begin(), parts.columns[0]);
  table.options.time = table.names[parts.columns[0]];
  table.options.time_format = parts.format;
  for (std::size_t i = 1; i < parts.columns.size(); ++i) {
    table.options.time_parts.push_back(table.names[parts.columns[i]]);
    table.reasons[parts.columns[i]] = "part of the time";
  }
  return table;
}

/// Returns whether the times increase in the whole table or, in one of the layouts, in each series.
bool are_times(const std::filesystem::path& file, const InferredTable& table) {
  const std::string& time = table.options.time;
  const std::vector<double> times = times_of(file, time, {}, table.options);
  return !times.empty() &&
         (are_increasing(times) ||
          !layout_of_series(file, time, id_candidates(table), table.options).columns.empty());
}

}  // namespace

std::optional<InferredTable> with_time_parts(const std::filesystem::path& file,
                                             const InferredTable& table) {
  if (!table.has_header) return std::nullopt;
  const std::vector<TimeParts> choices = choices_of(table);
  if (!table.times.empty() && !choices.empty()) {
    InferredTable dates = table;
    for (const TimeParts& parts : choices) dates = with_parts(dates, parts);
    dates.options = table.options;
    dates.options.time = table.names[table.times[0]], dates.options.time_format = table.time_format;
    if (are_times(file, dates)) return std::nullopt;
  }
  for (const TimeParts& parts : choices)
    if (InferredTable whole = with_parts(table, parts); are_times(file, whole)) return whole;
  return std::nullopt;
}

}  // namespace bochner
