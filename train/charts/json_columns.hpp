#pragma once
/// Charts of JSON lines, such as metrics.jsonl or what commands print with --json.

#include <bochner/train/charts/chart.hpp>
#include <string_view>

namespace bochner {

/// Numbers of JSON lines by name, in the order of the lines. A number in an object within the line
/// has a dotted name: "valid.loss".
struct JsonColumns {
  std::vector<std::string> names;           ///< in order of first occurrence
  std::vector<std::vector<double>> values;  ///< (columns, lines); NaN where a line has no number
  std::size_t lines = 0;
};

/// Reads the columns; an incomplete last line is ignored. Throws DataError, which begins with
/// `source`, if another line is not a JSON object or none has a number.
JsonColumns read_json_columns(std::string_view text, const std::string& source);

/// Returns a chart of one column over another, or over line numbers if x is empty.
Chart chart_of(const JsonColumns& columns, std::optional<std::size_t> x, std::size_t y);

}  // namespace bochner
