#include <algorithm>
#include <bochner/autodiff/shape.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/data/files/errors.hpp>
#include <bochner/data/time_series.hpp>
#include <cmath>

namespace bochner {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all.empty() ? "none" : all;
}

std::size_t column_of(const NamedArray& table, const std::string& name) {
  const auto found = std::ranges::find(table.columns, name);
  if (found == table.columns.end())
    throw DataError("no column is called \"", name, "\"; there are: ", joined(table.columns));
  return std::size_t(found - table.columns.begin());
}

/// Columns of the variates: those named, or all but that of the time.
std::vector<std::size_t> variate_columns(const NamedArray& table,
                                         const std::vector<std::string>& columns) {
  std::vector<std::size_t> chosen;
  for (const std::string& name : columns) chosen.push_back(column_of(table, name));
  if (!columns.empty()) return chosen;
  for (std::size_t i = 0; i < table.values.shape()[1]; ++i)
    if (i != table.time) chosen.push_back(i);
  return chosen;
}

std::string place(const NamedArray& table, std::size_t row, std::size_t column) {
  return in_words("row ", row + 1, ", column ", column_name(table, column));
}

double finite_number(const NamedArray& table, std::size_t row, std::size_t column) {
  const double number = table.values(row, column);
  if (std::isfinite(number)) return number;
  throw DataError(place(table, row, column),
                  ": a series needs finite numbers; fill in what is missing or choose other "
                  "columns");
}

std::vector<double> increasing_times(const NamedArray& table) {
  std::vector<double> times;
  if (!table.time) return times;
  for (std::size_t row = 0; row < table.values.shape()[0]; ++row) {
    times.push_back(finite_number(table, row, *table.time));
    if (row > 0 && times[row] <= times[row - 1])
      throw DataError(place(table, row, *table.time),
                      ": time must go on from row to row; sort the rows");
  }
  return times;
}

}  // namespace

TimeSeries time_series(const NamedArray& table, const std::vector<std::string>& columns) {
  if (table.values.dimension() != 2)
    throw DataError("a series is a table of rows and columns, not an array of ",
                    table.values.dimension(), " axes");
  const std::vector<std::size_t> chosen = variate_columns(table, columns);
  if (chosen.empty()) throw DataError("there is no column of numbers besides the time");
  const std::size_t rows = table.values.shape()[0];
  TimeSeries series;
  series.times = increasing_times(table);
  series.values.resize({chosen.size(), rows});
  for (std::size_t v = 0; v < chosen.size(); ++v) {
    if (!table.columns.empty()) series.names.push_back(table.columns[chosen[v]]);
    for (std::size_t row = 0; row < rows; ++row)
      series.values(v, row) = finite_number(table, row, chosen[v]);
  }
  return series;
}

std::uint64_t fingerprint(const TimeSeries& series) {
  std::uint64_t hash = digest_of_elements(series.values, series.variates());
  hash = digest_of_elements(series.times, hash);
  for (const std::string& name : series.names) hash = digest_of_elements(name, hash);
  return hash;
}

}  // namespace bochner
