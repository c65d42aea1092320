#pragma once
/// Records of a text: lines of delimited fields.

#include <bochner/base/errors.hpp>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace bochner {

/// Field without its quotes, and where it begins: line and byte of the line, counted from 1.
struct CsvField {
  std::string_view text;
  std::size_t line = 1, column = 1;
};

/// Splits a text into records. Quoted fields may hold delimiters, line ends and doubled quotes;
/// lines end in LF or CRLF; a UTF-8 byte order mark is skipped.
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
  bool sees_quote() const { return quote_ != 0 && rest_.starts_with(quote_); }
  CsvField field();
  void quoted_text(CsvField& field);
  void take(std::size_t bytes);
  std::size_t line_end_size() const;

  std::string_view rest_;
  const std::string& name_;
  char delimiter_, quote_;
  std::size_t line_ = 1, column_ = 1;
  std::deque<std::string> unescaped_;  // fields of this record that had doubled quotes
};

}  // namespace bochner
