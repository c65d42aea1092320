#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/data/series/series_table.hpp>
#include <bochner/train/tasks/config_templates/column_roles.hpp>
#include <cmath>
#include <set>

namespace bochner {
namespace {

constexpr std::size_t few_values = 4;

/// Values of a column of numbers.
struct ColumnOfNumbers {
  std::set<double> values;  ///< the first different ones
  bool is_whole = true, counts_rows = true, counts_in_series = true, fixed_in_series = true;
  bool rises = true;  ///< within each series
  double first = 0, last = 0;
  std::size_t rows = 0, empty_at_end = 0;  ///< the least at the end of a series

  ColumnOfNumbers(const NamedArray& table, std::size_t column,
                  const std::vector<SeriesRows>& series) {
    rows = table.values.shape()[0], empty_at_end = rows;
    for (std::size_t row = 0; row < rows; ++row) {
      const double value = table.values(row, column);
      if (row > 0) counts_rows &= value == table.values(row - 1, column) + 1;
      if (std::isnan(value)) continue;
      if (values.empty()) first = value;
      last = value;
      if (values.size() <= few_values) values.insert(value);
      is_whole &= value == std::floor(value);
    }
    for (const SeriesRows& part : series) see(table, column, part.rows);
  }

  void see(const NamedArray& table, std::size_t column, const std::vector<std::size_t>& part) {
    std::size_t empty = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const double value = table.values(part[i], column);
      empty = std::isnan(value) ? empty + 1 : 0;
      if (i == 0) continue;
      const double before = table.values(part[i - 1], column);
      rises &= value > before;
      counts_in_series &= value == before + 1;
      fixed_in_series &= value == before;
    }
    empty_at_end = std::min(empty_at_end, empty);
  }

  bool counts() const { return rows > 2 && (counts_rows || counts_in_series); }
  bool is_constant() const { return values.size() == 1; }
  /// Returns whether they are seconds or milliseconds since 1970.
  bool are_times() const {
    const auto since_1970 = [&](double parts) {
      return is_recent(first / parts) && is_recent(last / parts);
    };
    return rises && rows > 2 && (since_1970(1) || since_1970(1000));
  }
  bool has_few() const { return values.size() <= (is_whole ? few_values : 2); }
  bool is_within(double least, double most) const {
    return is_whole && !values.empty() && *values.begin() >= least && *values.rbegin() <= most;
  }
};

/// Returns whether a column is named like what a table measures: few sales are still sales.
bool names_a_target(const std::string& column) {
  constexpr std::string_view names[] = {"y",   "target", "sales",    "demand", "count",  "cnt",
                                        "qty", "units",  "quantity", "value",  "orders", "visits"};
  return std::ranges::find(names, lower_case(column)) != std::end(names);
}

/// Returns whether a column is named like a part of a date and has such numbers.
bool is_of_calendar(const std::string& column, const ColumnOfNumbers& numbers) {
  struct Part {
    std::string_view name;
    double least, most;
  };
  constexpr Part parts[] = {{"year", 1000, 2200}, {"month", 1, 12},      {"mnth", 1, 12},
                            {"day", 1, 31},       {"hour", 0, 23},       {"hr", 0, 23},
                            {"minute", 0, 59},    {"quarter", 1, 4},     {"week", 0, 53},
                            {"weekday", 0, 7},    {"dayofweek", 0, 7},   {"day_of_week", 0, 7},
                            {"dow", 0, 7},        {"dayofyear", 1, 366}, {"day_of_year", 1, 366}};
  const auto* found = std::ranges::find(parts, lower_case(column), &Part::name);
  return found != std::end(parts) && numbers.is_within(found->least, found->most);
}

/// Keeps the requested target alone, and says so of the others. It is a target whatever its values.
void keep_target(InferredTable& table, const std::filesystem::path& file, ColumnRoles& roles) {
  const std::size_t target = requested_number(table, file.string());
  for (auto* columns : {&roles.known, &roles.maybe, &roles.fixed}) std::erase(*columns, target);
  for (const std::size_t other : roles.targets)
    if (other != target) table.reasons[other] = "not the target";
  table.reasons.erase(target);
  roles.targets = {target};
}

/// Reads the id columns of a layout, then the columns of numbers; missing values are NaN.
NamedArray read_columns(const std::filesystem::path& file, const InferredTable& table,
                        const SeriesLayout& layout, const std::vector<std::size_t>& numbers) {
  ReadOptions reading{.csv = table.options};
  reading.csv.columns = reading.csv.texts = reading.csv.labels = layout.columns;
  for (const std::size_t i : numbers) reading.csv.columns.push_back(table.names[i]);
  reading.csv.time = reading.csv.time_format = "";
  reading.csv.missing = "nan";
  return read_array(file, reading);
}

/// Returns the number of rows at the end that some columns lack and others have: two at least.
std::size_t rows_at_end(const std::vector<ColumnOfNumbers>& columns) {
  std::size_t most = 0;
  for (const ColumnOfNumbers& column : columns) most = std::max(most, column.empty_at_end);
  const bool some_have = std::ranges::any_of(
      columns, [](const ColumnOfNumbers& column) { return column.empty_at_end == 0; });
  return most > 1 && some_have ? most : 0;
}

std::string reason_of(const std::string& name, const ColumnOfNumbers& numbers, bool has_times) {
  if (numbers.is_constant()) return "constant";
  if (numbers.counts()) return "row numbers";
  if (has_times && numbers.are_times()) return "times";
  return has_times && is_of_calendar(name, numbers) ? "part of the date" : "";
}

}  // namespace

namespace {

ColumnRoles inferred_roles(const std::filesystem::path& file, InferredTable& table,
                           const SeriesLayout& layout) {
  std::vector<std::size_t> numbers = table.numbers;
  std::erase_if(numbers, [&](std::size_t i) {
    return std::ranges::count(layout.columns, table.names[i]) > 0;
  });
  ColumnRoles roles;
  if (numbers.size() < 2 || !table.has_header) {
    roles.targets = numbers;
    return roles;
  }
  const NamedArray array = read_columns(file, table, layout, numbers);
  const std::vector<SeriesRows> series = rows_of_series(array, layout.columns);
  std::vector<ColumnOfNumbers> columns;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    columns.emplace_back(array, layout.columns.size() + i, series);
  roles.rows_to_forecast = rows_at_end(columns);
  std::map<std::size_t, std::string> reasons;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::string& name = table.names[numbers[i]];
    const std::string reason = reason_of(name, columns[i], !table.times.empty());
    if (!reason.empty())
      reasons[numbers[i]] = reason;
    else if (series.size() > 1 && columns[i].fixed_in_series)
      roles.fixed.push_back(numbers[i]);
    else if (roles.rows_to_forecast > 0)
      (columns[i].empty_at_end == 0 ? roles.known : roles.targets).push_back(numbers[i]);
    else if (columns[i].has_few() && !names_a_target(name))
      roles.maybe.push_back(numbers[i]);
    else
      roles.targets.push_back(numbers[i]);
  }
  if (roles.targets.empty()) return {.targets = numbers, .known = {}, .maybe = {}, .fixed = {}};
  for (const auto& [column, reason] : reasons) table.reasons[column] = reason;
  for (const std::size_t i : roles.maybe) table.reasons[i] = "few values";
  for (const std::size_t i : roles.fixed) table.reasons[i] = "constant in each series";
  return roles;
}

}  // namespace

ColumnRoles column_roles(const std::filesystem::path& file, InferredTable& table,
                         const SeriesLayout& layout) {
  ColumnRoles roles = inferred_roles(file, table, layout);
  if (!table.request.target.empty()) keep_target(table, file, roles);
  return roles;
}

void leave_out_useless(const std::filesystem::path& file, InferredTable& table) {
  const NamedArray array = read_columns(file, table, {}, table.numbers);
  const std::vector<SeriesRows> rows = rows_of_series(array, {});
  std::vector<std::size_t> useful;
  std::map<std::size_t, std::string> reasons;
  for (std::size_t i = 0; i < table.numbers.size(); ++i) {
    const ColumnOfNumbers numbers(array, i, rows);
    const std::size_t column = table.numbers[i];
    if (const std::string reason = reason_of(table.names[column], numbers, false); reason.empty())
      useful.push_back(column);
    else
      reasons[column] = reason;
  }
  if (!table.request.target.empty()) {
    const auto target = table.called(lower_case(table.request.target));
    if (reasons.erase(*target) > 0) useful.push_back(*target);
  }
  if (useful.size() < 2) return;
  table.numbers = useful;
  for (const auto& [column, reason] : reasons) table.reasons[column] = reason;
}

}  // namespace bochner
