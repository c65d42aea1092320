#pragma once
/// Properties of a field's digits beyond their number, and which numbers are written as dates.

#include <bochner/data/formats/array.hpp>
#include <bochner/data/formats/csv_records.hpp>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bochner {

/// Returns whether the text is a number with a decimal comma: "3,5" and "1.234,5".
bool has_decimal_comma(std::string_view text);
/// Returns whether an integer text was rounded to the number: beyond 2^53 not every integer has a
/// double.
bool is_rounded(std::string_view text, double number, char decimal);
/// Returns for an error that the mark, a comma or a point, is either decimal or between thousands.
std::string ambiguous_mark_message(char mark);

/// Statistics of the points in a column's numbers: whether they may separate thousands.
struct SeenPoints {
  std::optional<CsvField> grouped = std::nullopt;  ///< the first like 1.043
  bool are_decimals = false;                       ///< whether one is like 1.5 or 0.043
  bool has_short = false, has_long = false;        ///< whole numbers below 1000, and others

  void see(const CsvField& field, std::string_view text);
  /// Returns whether points may separate thousands: 1.043 next to 987 where 1043 never occurs, or
  /// all like 1.043 if that is `usual`.
  bool may_group(bool usual) const { return grouped && !has_long && (has_short || usual); }
};

/// Rows of a column whose decimals differ from those above but whose doubles are equal.
class MergedRows {
 public:
  void see(std::string_view text, double number, std::size_t row);
  const std::vector<std::size_t>& rows() const { return rows_; }

 private:
  std::vector<std::size_t> rows_;
  std::string decimals_;                                      // of the row above, if it is long
  double number_ = std::numeric_limits<double>::quiet_NaN();  // of that row
};

/// Returns whether a column holds times that can all be written as dates: a file never mixes both.
bool is_column_of_dates(const NamedArray& array, std::size_t column);

}  // namespace bochner
