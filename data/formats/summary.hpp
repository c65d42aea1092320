#pragma once

#include <bochner/data/formats/array.hpp>

namespace bochner {

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

}  // namespace bochner
