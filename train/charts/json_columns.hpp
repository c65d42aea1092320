#pragma once
/// Charts of JSON lines, such as metrics.jsonl or what commands print with --json.

#include <bochner/train/charts/chart.hpp>
#include <string_view>

namespace bochner {

/// Numbers of JSON lines by name, in the order of the lines. A number in an object within the line
/// has a dotted name: "valid.loss".
struct JsonColumns {
  struct Number {
    std::size_t line;  ///< from 0
    double value;
  };
  std::vector<std::string> names;           ///< in order of first occurrence
  std::vector<std::vector<Number>> values;  ///< of each name, where a line has one
  std::size_t lines = 0;
};
/// Names that a file may have.
inline constexpr std::size_t most_json_columns = 10000;

/// Reads the columns; an incomplete last line is ignored. Throws DataError, which begins with
/// `source`, if another line is not a JSON object, none has a number, or there are more than
/// most_json_columns names.
JsonColumns read_json_columns(std::string_view text, const std::string& source);

/// Returns a chart of one column over another, or over line numbers if x is empty.
Chart chart_of(const JsonColumns& columns, std::optional<std::size_t> x, std::size_t y);

}  // namespace bochner
