#pragma once
/// Arrays with column names, as readers return and writers take them, and their summaries.

#include <bochner/base/xtensor.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bochner {

/// Numbers of a file, with names for the last axis if the file has them. Always double: in float, a
/// time stamp in unix seconds would be off by a minute.
struct NamedArray {
  xt::xarray<double> values;
  std::vector<std::string> columns;      ///< names of the last axis; may be empty
  std::optional<std::size_t> time = {};  ///< the column of seconds since 1970 UTC, if any
  /// Texts of text columns, whose values are indices 0, 1, .. in order of first occurrence.
  std::map<std::size_t, std::vector<std::string>> texts = {};
  std::vector<std::size_t> more_times = {};  ///< other columns of time stamps
  /// (rows) Offsets east of UTC in seconds, if every stamp of the time column has one and not all
  /// are UTC; else empty.
  std::vector<double> offsets = {};
  std::string time_format = "";  ///< format of the stamps, as in parse_time()
  /// Rows, ascending, of columns of long numbers or stamps whose text differs from the row above
  /// but whose double is equal.
  std::map<std::size_t, std::vector<std::size_t>> merged = {};
  bool numeric_time = false;  ///< whether times are numbers but not seconds since 1970
};
/// Sets numeric_time for times that were read from numbers, unless all are from 1990 to 2100.
void mark_numeric_time(NamedArray& array);

std::string column_name(const NamedArray& array, std::size_t column);
/// Returns the column with this name or, if none has it, this number from 1.
std::optional<std::size_t> find_column(const std::vector<std::string>& names, std::size_t width,
                                       const std::string& wanted);
std::size_t require_column(const NamedArray& array, const std::string& wanted);

/// Summary of one column; NaN counts as missing and enters nothing else.
struct ColumnSummary {
  std::string name;
  std::size_t missing = 0, present = 0;
  double smallest = 0, largest = 0, mean = 0;  ///< 0 if nothing is present
};

/// Summary of the time stamps of a table, in seconds.
struct TimeSummary {
  std::string name;
  double first = 0, last = 0;
  double shortest_step = 0, longest_step = 0;  ///< between rows; below 0: out of order
};

/// Summary of each column but the time in a table of up to 64 columns, else of all values together.
struct ArraySummary {
  std::vector<ColumnSummary> columns;
  std::optional<TimeSummary> time;
};
ArraySummary summarize(const NamedArray& array);

/// Function that takes the bytes of a file in pieces, in order.
using Sink = std::function<void(std::string_view)>;
/// Bytes per piece.
inline constexpr std::size_t piece_size = 1 << 16;

/// Returns: no column "c"; there are: "a", "b"; or columns 1 to 3 if they have no names.
std::string no_column(const std::vector<std::string>& names, std::size_t width,
                      const std::string& wanted);

/// Replaces NaN in a column by its mean. Returns false if it has no numbers.
bool fill_with_mean(NamedArray& table, std::size_t column);

}  // namespace bochner
