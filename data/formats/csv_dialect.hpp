#pragma once
/// Dialects of tables: delimiters, quotes, decimal marks and formats of dates.

#include <bochner/data/formats/csv.hpp>
#include <bochner/data/formats/csv_numbers.hpp>
#include <bochner/data/formats/time_stamp.hpp>

namespace bochner {

struct CsvDialect {
  char delimiter = ',', decimal = '.';
  char quote = '"';  ///< 0 for none
  std::string time_format = "";
  std::vector<std::string> possible_formats = {};  ///< of dates, if several fit and none is chosen
  bool decimal_is_given = false;         ///< then 1,234 is a thousand with a decimal point
  bool points_may_group = false;         ///< nothing shows whether 1.234 is a thousand
  bool is_one_column = false;            ///< no delimiter was found
  std::vector<std::size_t> months = {};  ///< columns of dates such as 07.2016
};

/// Throws std::invalid_argument for options with an unknown value.
void require_dialect(const CsvOptions& options);
/// Returns the dialect of the options, with "auto" detected from the first records; `,`, `.` and
/// `"` by default.
CsvDialect csv_dialect(std::string_view text, const std::string& name, const CsvOptions& options);
/// Returns a note for the end of an error about guesses: "; fields were assumed to be separated by
/// \";\" ..", or "" if all are common or given.
std::string dialect_note(const CsvDialect& dialect, const CsvOptions& options);

/// Parses a number of a table, 1.234 as a thousand if the dialect's decimal mark was given. Returns
/// nothing if may_be_columns().
std::optional<double> parse_number(std::string_view text, const CsvDialect& dialect);
/// Returns whether the text is a number such as "2 566" that may also be two columns: nothing else
/// separates columns.
bool may_be_columns(std::string_view text, const CsvDialect& dialect);
/// Returns for an error that a space is between thousands, or between columns.
std::string spaced_number_message();
/// Parses a time in the format of the dialect, seconds since 1970 with its decimal mark.
std::optional<TimeStamp> parse_stamp(std::string_view text, const CsvDialect& dialect);
bool is_csv_value(std::string_view text, const CsvDialect& dialect);

/// Returns column names: the number for an empty one, or "column 1" if that is taken.
std::vector<std::string> csv_column_names(std::vector<std::string> header);

/// Trimmed fields of the first records, without blank lines; none if quotes do not match.
using CsvSample = std::vector<std::vector<std::string>>;
CsvSample csv_sample(std::string_view text, const std::string& name, char delimiter, char quote,
                     std::size_t most = 200);

}  // namespace bochner
