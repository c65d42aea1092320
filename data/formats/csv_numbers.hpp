#pragma once
/// What the digits of a field say beyond the number that is read from them, and which numbers are
/// written as dates.

#include <bochner/data/formats/array.hpp>
#include <bochner/data/formats/csv_records.hpp>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bochner {

/// "3,5" and "1.234,5", of which a point would make a number.
bool has_decimal_comma(std::string_view text);
/// Whether an integer was rounded to the number: beyond 2^53 not each has an equal.
bool is_rounded(std::string_view text, double number, char decimal);
/// For an error: the mark, a comma or a point, may stand before decimals or between thousands.
std::string words_of_either(char mark);

/// The points of a column's numbers: whether they may stand between thousands.
struct SeenPoints {
  std::optional<CsvField> grouped = std::nullopt;  ///< the first one like 1.043
  bool are_decimals = false;                       ///< 1.5 or 0.043, of one number
  bool has_short = false, has_long = false;        ///< whole numbers below 1000, and others

  void see(const CsvField& field, std::string_view text);
  /// 1.043 beside 987, where 1043 is never written so; or all like 1.043 where that is `usual`.
  bool may_group(bool usual) const { return grouped && !has_long && (has_short || usual); }
};

/// Rows of a column whose decimals are others than those above, and whose doubles are the same.
class MergedRows {
 public:
  void see(std::string_view text, double number, std::size_t row);
  const std::vector<std::size_t>& rows() const { return rows_; }

 private:
  std::vector<std::size_t> rows_;
  std::string decimals_;                                      // of the row above, where it is long
  double number_ = std::numeric_limits<double>::quiet_NaN();  // as well
};

/// Whether a column is one of times that can all be written as dates: no file has some of each.
bool is_column_of_dates(const NamedArray& array, std::size_t column);

}  // namespace bochner
