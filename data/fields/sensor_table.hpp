#pragma once
/// Readings of sensors: values at places and times, both as irregular as they are.

#include <bochner/base/keys.hpp>
#include <bochner/data/formats/array.hpp>
#include <cstdint>

namespace bochner {

/// Columns of a table of readings, by name or by number from 1.
struct SensorColumns {
  std::string time = "time";
  std::vector<std::string> places = {};  ///< coordinates, 1 to 3
  std::vector<std::string> values = {};  ///< none for all others
};
inline void describe(Keys& keys, SensorColumns& columns) {
  keys("place_columns", columns.places,
       "sensors, event_files: the columns of the coordinates of a place, one to three, by name or "
       "by number from 1; of events none for none");
}

/// Rows in the order of their times, those of one time as in the table.
struct SensorTable {
  std::size_t dimensions = 1, variates = 1;  ///< d, V
  std::vector<double> times;                 ///< (n), ascending
  std::vector<double> places;                ///< (n, d)
  std::vector<double> values;                ///< (n, V); NaN where a value is missing
  std::vector<std::size_t> rows;             ///< (n): of the table that they come from
  std::vector<std::string> names;            ///< of time, places and values, as they were called

  std::size_t size() const { return times.size(); }
  /// Of the values; none of a table whose columns have numbers only.
  std::vector<std::string> value_names() const;
  /// Rows first, .., last - 1.
  SensorTable part(std::size_t first, std::size_t last) const;
};

/// A table of readings. Throws DataError for columns that are not there, no column of values, and a
/// time or a coordinate that is missing, with its row.
SensorTable sensor_table(const NamedArray& array, const SensorColumns& columns);
/// The columns of such a table that are called as those of `like`, which `columns` chose: all of
/// them, and no others of values. A table without names has them where `columns` says. Throws
/// DataError with the names.
SensorColumns columns_called(const NamedArray& array, const SensorColumns& columns,
                             const SensorTable& like);
/// Of several files as one. Throws DataError where they have different numbers of columns.
SensorTable merged(const std::vector<SensorTable>& tables);

/// XXH64 of times, places and values.
std::uint64_t fingerprint(const SensorTable& table);

}  // namespace bochner
