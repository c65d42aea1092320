#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/fields/sensor_table.hpp>
#include <bochner/data/files/digest.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <ranges>

namespace bochner {
namespace {

struct ChosenColumns {
  std::size_t time;
  std::vector<std::size_t> places, values;
};

ChosenColumns chosen_columns(const NamedArray& array, const SensorColumns& wanted) {
  ChosenColumns chosen{};
  const bool dated = array.time && wanted.time == SensorColumns().time;
  chosen.time = dated ? *array.time : require_column(array, wanted.time);
  for (const auto& name : wanted.places) chosen.places.push_back(require_column(array, name));
  for (const auto& name : wanted.values) chosen.values.push_back(require_column(array, name));
  for (std::size_t i = 0; wanted.values.empty() && i < array.values.shape()[1]; ++i)
    if (i != chosen.time && std::ranges::count(chosen.places, i) == 0 &&
        std::ranges::count(array.more_times, i) == 0)
      chosen.values.push_back(i);
  if (chosen.places.empty() || chosen.places.size() > 3)
    throw DataError("a place has one to three coordinates, not ", chosen.places.size(),
                    "; name their columns in data.place_columns");
  if (chosen.values.empty()) throw DataError("there is no column of values next to time and place");
  return chosen;
}

double known_number(const NamedArray& array, std::size_t row, std::size_t column) {
  const double number = array.values(row, column);
  if (!std::isfinite(number))
    throw DataError("row ", row + 1, ": column ", column_name(array, column),
                    ": no time or coordinate may be missing");
  return number;
}

/// Returns a value; NaN or infinite if it is missing.
double value_at(const NamedArray& array, std::size_t row, std::size_t column) {
  const double number = array.values(row, column);
  if (std::isfinite(number) && std::abs(number) > double(std::numeric_limits<float>::max()))
    throw DataError("row ", row + 1, ": column ", column_name(array, column), ": ",
                    format_number(number), " exceeds the range of float32");
  return number;
}

std::vector<double> in_order(const std::vector<double>& numbers, std::size_t width,
                             const std::vector<std::size_t>& order) {
  std::vector<double> sorted;
  for (const std::size_t row : order)
    for (std::size_t i = 0; i < width; ++i) sorted.push_back(numbers[row * width + i]);
  return sorted;
}

SensorTable sorted_by_time(SensorTable table) {
  std::vector<std::size_t> order(table.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::stable_sort(order, {}, [&](std::size_t row) { return table.times[row]; });
  SensorTable sorted = table;
  sorted.times = in_order(table.times, 1, order);
  sorted.places = in_order(table.places, table.dimensions, order);
  sorted.values = in_order(table.values, table.variates, order);
  for (std::size_t i = 0; i < order.size(); ++i) sorted.rows[i] = table.rows[order[i]];
  return sorted;
}

template <class Number>
void append(std::vector<Number>& to, const std::vector<Number>& from, std::size_t first,
            std::size_t last) {
  to.insert(to.end(), from.begin() + std::ptrdiff_t(first), from.begin() + std::ptrdiff_t(last));
}

void append_rows(SensorTable& to, const SensorTable& from, std::size_t first, std::size_t last) {
  append(to.times, from.times, first, last);
  append(to.places, from.places, first * from.dimensions, last * from.dimensions);
  append(to.values, from.values, first * from.variates, last * from.variates);
  append(to.rows, from.rows, first, last);
}

/// Throws DataError if a learned column is missing from the input; other columns cannot replace it.
void require_called(const NamedArray& array, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (!find_column(array.columns, array.columns.size(), name))
      throw DataError("the input has no column ", excerpt(name), "; the model has learned ",
                      joined(names, ", ", excerpt));
}

/// Throws DataError if the input has columns of values that the model has not learned.
void require_no_others(const NamedArray& array, const SensorColumns& columns) {
  const std::vector<std::size_t> chosen = chosen_columns(array, columns).values;
  SensorColumns with_all = columns;
  with_all.values.clear();
  for (const std::size_t column : chosen_columns(array, with_all).values)
    if (std::ranges::count(chosen, column) == 0)
      throw DataError("the model knows no column ", excerpt(column_name(array, column)),
                      "; it has learned ", joined(columns.values, ", ", excerpt));
}

std::string columns_in_words(const SensorTable& table) {
  return joined(table.names | std::views::drop(1), ", ", excerpt);
}

void require_alike(const SensorTable& first, const SensorTable& other) {
  if (other.dimensions != first.dimensions || other.variates != first.variates)
    throw DataError("data.files: tables of ", first.dimensions, " coordinates and ", first.variates,
                    " values, and of ", other.dimensions, " and ", other.variates,
                    "; name the columns in data.columns");
  if (!std::ranges::equal(first.names | std::views::drop(1), other.names | std::views::drop(1)))
    throw DataError("data.files: tables of columns ", columns_in_words(first), ", and of ",
                    columns_in_words(other), "; name the same ones in data.columns");
}

}  // namespace

SensorTable SensorTable::part(std::size_t first, std::size_t last) const {
  SensorTable some{dimensions, variates, {}, {}, {}, {}, names};
  append_rows(some, *this, first, last);
  return some;
}

std::vector<std::string> SensorTable::value_names() const {
  std::vector<std::string> values(names.end() - std::ptrdiff_t(variates), names.end());
  if (std::ranges::any_of(values, [](const auto& name) { return bool(parse_count(name)); }))
    values.clear();
  return values;
}

SensorTable sensor_table(const NamedArray& array, const SensorColumns& columns) {
  if (array.values.dimension() != 2 || array.values.shape()[0] == 0)
    throw DataError("readings of sensors need a table with columns of times, places and values");
  const ChosenColumns chosen = chosen_columns(array, columns);
  SensorTable table{chosen.places.size(), chosen.values.size(), {}, {}, {}, {}, {}};
  for (std::size_t row = 0; row < array.values.shape()[0]; ++row) {
    table.times.push_back(known_number(array, row, chosen.time));
    for (const std::size_t i : chosen.places) table.places.push_back(known_number(array, row, i));
    for (const std::size_t i : chosen.values) table.values.push_back(value_at(array, row, i));
    table.rows.push_back(row);
  }
  table.names.push_back(column_name(array, chosen.time));
  for (const auto* some : {&chosen.places, &chosen.values})
    for (const std::size_t i : *some) table.names.push_back(column_name(array, i));
  return sorted_by_time(std::move(table));
}

SensorColumns columns_named_like(const NamedArray& array, const SensorColumns& columns,
                                 const SensorTable& like) {
  if (array.columns.empty() || array.values.dimension() != 2) return columns;
  const auto place = like.names.begin() + 1, value = place + std::ptrdiff_t(like.dimensions);
  SensorColumns called{columns.time, {place, value}, {value, like.names.end()}};
  if (parse_count(columns.time)) called.time = like.names[0];
  require_called(array, called.places);
  require_called(array, called.values);
  if (columns.values.empty()) require_no_others(array, called);
  return called;
}

SensorTable merged(const std::vector<SensorTable>& tables) {
  SensorTable all = tables.front();
  for (std::size_t i = 1; i < tables.size(); ++i) {
    require_alike(all, tables[i]);
    append_rows(all, tables[i], 0, tables[i].size());
  }
  return sorted_by_time(std::move(all));
}

std::uint64_t fingerprint(const SensorTable& table) {
  std::uint64_t hash = digest_of_elements(table.values, table.variates);
  hash = digest_of_elements(table.times, hash);
  return digest_of_elements(table.places, hash);
}

}  // namespace bochner
