#pragma once
/// What readers give and writers take, and what is in it.

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include <xtensor/xarray.hpp>

namespace bochner {

/// Numbers of a file, with names for the last axis where the file has them. Always double: in float
/// a time stamp in unix seconds would be off by a minute.
struct NamedArray {
  xt::xarray<double> values;
  std::vector<std::string> columns;      ///< of the last axis; may be empty
  std::optional<std::size_t> time = {};  ///< the column of seconds since 1970 UTC, if one is
  /// Of columns of texts: what their numbers 0, 1, .. stand for, in the order of their first rows.
  std::map<std::size_t, std::vector<std::string>> texts = {};
  std::vector<std::size_t> more_times = {};  ///< other columns of such times
  /// (rows) of the column of the time where all stamps say theirs and not all are UTC, in seconds
  /// east of it; else empty.
  std::vector<double> offsets = {};
  std::string time_format = "";  ///< of the stamps that were read, as parse_time() takes it
  /// Of columns of long numbers or stamps: rows, ascending, whose text is another one than in the
  /// row above and whose double is the same.
  std::map<std::size_t, std::vector<std::size_t>> merged = {};
};

/// The name of a column, or its number from 1.
std::string column_name(const NamedArray& array, std::size_t column);
/// Which of `width` columns is called so or, where none is, has this number from 1.
std::optional<std::size_t> find_column(const std::vector<std::string>& names, std::size_t width,
                                       const std::string& wanted);
/// The same of an array; throws DataError where none is.
std::size_t require_column(const NamedArray& array, const std::string& wanted);

/// The values of one column; NaN counts as missing and enters nothing else.
struct ColumnSummary {
  std::string name;
  std::size_t missing = 0, present = 0;
  double smallest = 0, largest = 0, mean = 0;  ///< 0 where nothing is present
};

/// The time stamps of a table, in seconds.
struct TimeSummary {
  std::string name;
  double first = 0, last = 0;
  double shortest_step = 0, longest_step = 0;  ///< from row to row; below 0 out of order
};

/// What is in an array. A table of at most 64 columns is summed up column by column, without that
/// of the time; anything else as one.
struct ArraySummary {
  std::vector<ColumnSummary> columns;
  std::optional<TimeSummary> time;
};
ArraySummary summarize(const NamedArray& array);

/// Takes the bytes of a file in pieces, in their order.
using Sink = std::function<void(std::string_view)>;
/// Bytes handed on at a time.
inline constexpr std::size_t piece_size = 1 << 16;

}  // namespace bochner
