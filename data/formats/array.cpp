#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/array.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <cmath>
#include <ranges>

namespace bochner {
namespace {

constexpr std::size_t most_columns = 64;
constexpr std::size_t most_names = 20;  // listed in a message

/// Summarizes values begin, begin + stride, ..; Welford's updates of the mean do not overflow.
ColumnSummary summarize_values(const NamedArray& array, std::size_t begin, std::size_t stride) {
  ColumnSummary summary;
  for (std::size_t i = begin; i < array.values.size(); i += stride) {
    const double value = array.values.data()[i];
    if (std::isnan(value)) {
      ++summary.missing;
      continue;
    }
    if (summary.present == 0) summary.smallest = summary.largest = value;
    summary.smallest = std::min(summary.smallest, value);
    summary.largest = std::max(summary.largest, value);
    summary.mean += (value - summary.mean) / double(++summary.present);
  }
  return summary;
}

TimeSummary summarize_time(const NamedArray& array, std::size_t width) {
  const std::size_t rows = array.values.shape(0);
  const auto at = [&](std::size_t row) { return array.values.data()[row * width + *array.time]; };
  TimeSummary summary{column_name(array, *array.time), at(0), at(rows - 1)};
  for (std::size_t row = 1; row < rows; ++row) {
    const double step = at(row) - at(row - 1);
    summary.shortest_step = row == 1 ? step : std::min(summary.shortest_step, step);
    summary.longest_step = row == 1 ? step : std::max(summary.longest_step, step);
  }
  return summary;
}

}  // namespace

void mark_numeric_time(NamedArray& array) {
  const std::size_t width = array.values.dimension() == 2 ? array.values.shape(1) : 0;
  for (std::size_t row = 0; array.time && width > 0 && row < array.values.shape(0); ++row) {
    const double time = array.values.data()[row * width + *array.time];
    array.numeric_time |= !std::isnan(time) && !is_recent(time);
  }
}

std::string column_name(const NamedArray& array, std::size_t column) {
  return array.columns.empty() ? std::to_string(column + 1) : array.columns[column];
}

std::optional<std::size_t> find_column(const std::vector<std::string>& names, std::size_t width,
                                       const std::string& wanted) {
  const auto named = std::ranges::find(names, wanted);
  if (named != names.end()) return std::size_t(named - names.begin());
  const auto number = parse_count(wanted);
  if (number && *number >= 1 && *number <= width) return *number - 1;
  return std::nullopt;
}

std::string no_column(const std::vector<std::string>& names, std::size_t width,
                      const std::string& wanted) {
  std::string there = names.empty() ? "columns 1 to " + std::to_string(width) : "";
  there += joined(names | std::views::take(most_names), ", ", excerpt);
  if (names.size() > most_names) there += ", ...";
  return "no column " + excerpt(wanted) + "; there are: " + there;
}

std::size_t require_column(const NamedArray& array, const std::string& wanted) {
  const std::size_t width = array.values.shape().back();
  if (const auto found = find_column(array.columns, width, wanted)) return *found;
  throw DataError(no_column(array.columns, width, wanted));
}

bool fill_with_mean(NamedArray& table, std::size_t column) {
  const std::size_t width = table.values.shape(1);
  const ColumnSummary summary = summarize_values(table, column, width);
  if (summary.present == 0) return false;
  for (std::size_t i = column; i < table.values.size(); i += width)
    if (double& value = table.values.data()[i]; std::isnan(value)) value = summary.mean;
  return true;
}

ArraySummary summarize(const NamedArray& array) {
  ArraySummary summary;
  const bool is_table = array.values.dimension() == 2 && array.values.shape(1) <= most_columns;
  if (!is_table || array.values.size() == 0) {
    summary.columns.push_back(summarize_values(array, 0, 1));
    summary.columns.back().name = "all";
    return summary;
  }
  const std::size_t width = array.values.shape(1);
  if (array.time) summary.time = summarize_time(array, width);
  for (std::size_t column = 0; column < width; ++column) {
    if (array.time == column) continue;
    summary.columns.push_back(summarize_values(array, column, width));
    summary.columns.back().name = column_name(array, column);
  }
  return summary;
}

}  // namespace bochner
