#pragma once
/// Sensor readings: values at irregular places and times.

#include <bochner/base/keys.hpp>
#include <bochner/data/formats/array.hpp>
#include <cstdint>

namespace bochner {

struct SensorColumns {
  std::string time = "time";
  std::vector<std::string> places = {};  ///< 1 to 3 coordinates
  std::vector<std::string> values = {};  ///< empty: all others
};
inline void describe(Keys& keys, SensorColumns& columns) {
  const KeyCondition events = when("data.kind", {"event_files"}) && when("model.kind", {"events"});
  keys.when(when("data.kind", {"sensors"}) || events)(
      "place_columns", columns.places,
      "one to three columns of coordinates, by name or by number from 1; none for events without "
      "places");
}

/// Readings sorted by time, those of equal times as in the table.
struct SensorTable {
  std::size_t dimensions = 1, variates = 1;  ///< d, V
  std::vector<double> times;                 ///< (n), ascending
  std::vector<double> places;                ///< (n, d)
  std::vector<double> values;                ///< (n, V); NaN: missing
  std::vector<std::size_t> rows;             ///< (n): rows of the source table
  std::vector<std::string> names;            ///< of time, places and values

  std::size_t size() const { return times.size(); }
  /// Returns the names of the values; none if columns have only numbers.
  std::vector<std::string> value_names() const;
  SensorTable part(std::size_t first, std::size_t last) const;
};

/// Returns the readings of a table. Throws DataError for missing columns, no column of values, and
/// a missing time or coordinate, with its row.
SensorTable sensor_table(const NamedArray& array, const SensorColumns& columns);
/// Returns the columns of a table with the names of `like`, which `columns` chose: all of them, and
/// no other values. For a table without names, returns `columns`. Throws DataError with the names.
SensorColumns columns_named_like(const NamedArray& array, const SensorColumns& columns,
                                 const SensorTable& like);
/// Merges several tables. Throws DataError if their columns differ.
SensorTable merged(const std::vector<SensorTable>& tables);

std::uint64_t fingerprint(const SensorTable& table);

}  // namespace bochner
