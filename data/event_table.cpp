#include <algorithm>
#include <bochner/data/errors.hpp>
#include <bochner/data/event_table.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct Columns {
  std::size_t time, type;
};

Columns columns_of(const NamedArray& array) {
  const auto named = [&](const char* name) {
    return std::size_t(std::find(array.columns.begin(), array.columns.end(), name) -
                       array.columns.begin());
  };
  const std::size_t count = array.columns.size(), time = named("time"), type = named("type");
  if (time < count && type < count) return {time, type};
  if (array.time) return {*array.time, *array.time == 0 ? 1u : 0u};
  return {0, 1};
}

[[noreturn]] void refuse(std::size_t row, const std::string& problem) {
  std::string message = "event ";
  message += std::to_string(row + 1);
  throw DataError(message + ": " + problem);
}

}  // namespace

EventTable event_table(const NamedArray& array, std::size_t types) {
  if (array.values.dimension() != 2 || array.values.shape()[1] < 2 || array.values.shape()[0] == 0)
    throw DataError("events need a table with columns of times and of types");
  const std::size_t rows = array.values.shape()[0];
  const Columns columns = columns_of(array);
  EventTable table{{{1, rows}, {}}, Times(std::vector<std::size_t>{1, rows})};
  for (std::size_t row = 0; row < rows; ++row) {
    const double time = array.values(row, columns.time), type = array.values(row, columns.type);
    if (!std::isfinite(time)) refuse(row, "its time is missing");
    if (row > 0 && time < table.times(0, row - 1)) refuse(row, "its time is before the one above");
    if (!(type >= 0 && type < double(types) && type == std::floor(type)))
      refuse(row, "its type must be a whole number from 0 to " + std::to_string(types - 1));
    table.times(0, row) = time;
    table.types.values.push_back(std::int32_t(type));
  }
  return table;
}

}  // namespace bochner::inline BOCHNER_PRECISION
