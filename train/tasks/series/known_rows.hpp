#pragma once
#include <bochner/train/tasks/series/forecast_requests.hpp>

namespace bochner {

/// All rows of one series of a table. Missing targets have the value of the row before, those of
/// the first rows that of the next one.
struct KnownRows {
  TimeSeries series;
  std::vector<std::size_t> rows;           ///< their numbers in the table
  std::vector<std::vector<bool>> missing;  ///< (V, n)
  std::vector<std::size_t> columns;        ///< (V) of the targets in the table
  std::size_t number;                      ///< of the series in the facts
};
/// Returns the rows of each series of a table. Throws DataError for targets without any value,
/// and like parts_of_table() and time_series().
std::vector<KnownRows> known_rows(const NamedArray& input, const RequestRules& rules,
                                  std::vector<std::string>& left_out);

}  // namespace bochner
