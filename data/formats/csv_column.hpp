#pragma once
/// A column of a table while it is read.

#include <bochner/base/text.hpp>
#include <bochner/data/formats/csv_records.hpp>
#include <bochner/data/formats/plain_numbers.hpp>
#include <cmath>

namespace bochner {

struct CsvColumn {
  enum class Kind { unknown, number, time, text };
  std::size_t index = 0;  // index of its field in a row
  Kind kind = Kind::unknown;
  bool is_label = false;                           // numbers remain texts
  std::optional<CsvField> missing = std::nullopt;  // the first before the kind was known
  std::map<std::string, std::size_t, std::less<>> numbers = {};  // indices of texts
  std::vector<std::string> texts = {};
  std::vector<double> offsets = {};  // of times; NaN if missing
  std::optional<bool> has_names =
      std::nullopt;  // whether it has texts that are neither numbers nor missing
  SeenPoints points = {};
  MergedRows merged = {};
  ColumnUnits units = {};
};

/// Whether the columns are the first ones of a table, in order. Without names, others keep numbers.
inline bool are_in_place(const std::vector<CsvColumn>& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].index != i) return false;
  return true;
}

/// Returns a whole number without leading zeros and decimals: "7" of "07" and "7.0".
inline std::string part_of_time(std::string_view text) {
  const auto number = parse_number(text);
  const bool is_whole = number && *number == std::floor(*number) && std::abs(*number) < 1e9;
  return is_whole ? format_number(*number) : std::string(text);
}

}  // namespace bochner
