#include <bochner/data/event_table.hpp>
#include <bochner/data/files/errors.hpp>
#include <bochner/data/files/text.hpp>
#include <cmath>
#include <map>

namespace bochner {
namespace {

using Column = std::optional<std::size_t>;

struct Columns {
  std::size_t time, type;
  Column sequence;
};

Column column_called(const NamedArray& array, const std::string& wanted) {
  return find_column(array.columns, array.values.shape()[1], wanted);
}

std::size_t require_column(const NamedArray& array, const std::string& wanted) {
  if (const Column column = column_called(array, wanted)) return *column;
  throw DataError("no column " + excerpt(wanted) + "; name one that is there, or its number");
}

Columns columns_of(const NamedArray& array, const EventColumns& wanted) {
  const Column sequence =
      wanted.sequence.empty() ? std::nullopt : Column(require_column(array, wanted.sequence));
  const bool open = !sequence && wanted.time == "time" && wanted.type == "type" &&
                    !(column_called(array, wanted.time) && column_called(array, wanted.type));
  if (open && array.time) return {*array.time, *array.time == 0 ? 1u : 0u, sequence};
  if (open) return {0, 1, sequence};
  return {require_column(array, wanted.time), require_column(array, wanted.type), sequence};
}

[[noreturn]] void refuse(std::size_t row, const std::string& problem) {
  std::string message = "row ";
  message += std::to_string(row + 1);
  throw DataError(message + ": " + problem);
}

/// Rows of each sequence.
std::vector<std::vector<std::size_t>> rows_of_sequences(const NamedArray& array, Column column) {
  std::vector<std::vector<std::size_t>> rows;
  std::map<double, std::size_t> numbers;
  for (std::size_t row = 0; row < array.values.shape()[0]; ++row) {
    const double name = column ? array.values(row, *column) : 0;
    if (!std::isfinite(name)) refuse(row, "its sequence is missing");
    const auto [found, is_new] = numbers.try_emplace(name, rows.size());
    if (is_new) rows.emplace_back();
    rows[found->second].push_back(row);
  }
  return rows;
}

EventTable table_of(const NamedArray& array, const Columns& columns, std::size_t types,
                    std::vector<std::size_t> rows) {
  const std::size_t n = rows.size();
  EventTable table{{{1, n}, {}}, Times(std::vector<std::size_t>{1, n}), std::move(rows)};
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t row = table.rows[i];
    const double time = array.values(row, columns.time), type = array.values(row, columns.type);
    if (!std::isfinite(time)) refuse(row, "its time is missing");
    if (i > 0 && time < table.times(0, i - 1))
      refuse(row, "its time is before that of row " + std::to_string(table.rows[i - 1] + 1) +
                      "; sort the rows by time");
    if (!(type >= 0 && type < double(types) && type == std::floor(type)))
      refuse(row, "its type must be a whole number from 0 to " + std::to_string(types - 1));
    table.times(0, i) = time;
    table.types.values.push_back(std::int32_t(type));
  }
  return table;
}

}  // namespace

std::vector<EventTable> event_tables(const NamedArray& array, std::size_t types,
                                     const EventColumns& columns) {
  if (array.values.dimension() != 2 || array.values.shape()[1] < 2 || array.values.shape()[0] == 0)
    throw DataError("events need a table with columns of times and of types");
  const Columns chosen = columns_of(array, columns);
  std::vector<EventTable> tables;
  for (std::vector<std::size_t>& rows : rows_of_sequences(array, chosen.sequence))
    tables.push_back(table_of(array, chosen, types, std::move(rows)));
  return tables;
}

}  // namespace bochner
