#pragma once
/// Records of a text: lines of delimited fields, and properties of their digits.

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/array.hpp>
#include <deque>
#include <limits>

namespace bochner {

/// Field without its quotes, and where it begins: line and byte of the line, counted from 1.
struct CsvField {
  std::string_view text;
  std::size_t line = 1, column = 1;
};

/// Splits a text into records. Quoted fields may hold delimiters, line ends and doubled quotes;
/// lines end in LF or CRLF, or CR in a text without LF; several blanks delimit like one. Skips a
/// UTF-8 byte order mark, a line "sep=;", and lines that begin with # before the table, the last of
/// which may be its header.
class CsvRecords {
 public:
  /// `quote` is ", ' (also allowed inside a field), or 0 if quotes are ordinary characters. `name`
  /// appears in errors; text and name must outlive the records.
  CsvRecords(std::string_view text, const std::string& name, char delimiter, char quote = '"');

  /// Replaces `fields` by those of the next record, valid until the next call; returns false at the
  /// end. A blank line is a record of one empty field. Throws DataError for an unclosed quote, a "
  /// in the middle of a field, and more than most_csv_fields.
  bool next(std::vector<CsvField>& fields);

  /// Throws DataError "NAME:LINE:COLUMN: what".
  template <class... Parts>
  [[noreturn]] void fail(std::size_t line, std::size_t column, const Parts&... what) const {
    throw DataError(name_, ":", line, ":", column, ": ", what...);
  }

 private:
  void skip_comments();
  bool is_header(std::string_view line, std::string_view next) const;
  void skip_blanks();
  bool sees_quote() const { return quote_ != 0 && rest_.starts_with(quote_); }
  CsvField field();
  void quoted_text(CsvField& field);
  void take(std::size_t bytes);
  std::size_t line_end_size() const {
    return rest_.starts_with("\r\n") ? 2 : rest_.starts_with(line_end_) ? 1 : 0;
  }

  std::string_view rest_;
  const std::string& name_;
  char delimiter_, quote_, line_end_;
  std::size_t line_ = 1, column_ = 1;
  std::deque<std::string> unescaped_;  // fields of this record that had doubled quotes
};

/// Returns whether the text is a number with a decimal comma: "3,5" and "1.234,5".
bool has_decimal_comma(std::string_view text);
/// Returns whether an integer was rounded to the number: beyond 2^53 not each has a double.
bool is_rounded(std::string_view text, double number, char decimal);
/// Returns for an error that the mark, a comma or a point, is either decimal or between thousands.
std::string ambiguous_mark_message(char mark);

/// Statistics of the points in a column's numbers: whether they may separate thousands.
struct SeenPoints {
  std::optional<CsvField> grouped = std::nullopt;  ///< the first like 1.043
  bool are_decimals = false;                       ///< whether one is like 1.5 or 0.043
  bool has_short = false, has_long = false;        ///< whole numbers below 1000, and others
  std::size_t groups = 0, hundreds = 0;            ///< numbers like 1.043, and from 100 to 999

  void see(const CsvField& field, std::string_view text);
  /// Returns whether points may separate thousands: 1.043 next to 987 where 1043 never occurs, or
  /// all like 1.043 if that is `usual`.
  bool may_group(bool usual) const { return grouped && !has_long && (has_short || usual); }
  /// Returns the same for fields between commas, where decimal points are usual: takes several
  /// numbers like 1.043 and several like 987.
  bool may_group_between_commas() const { return groups > 2 && hundreds > 2 && !has_long; }
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
/// Returns the text of a number that is not a date, numeric times as their file had them: those of
/// the format %Q in milliseconds.
std::string number_text(const NamedArray& array, std::size_t column, double number);

}  // namespace bochner
