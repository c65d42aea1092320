#pragma once
/// Dialects of tables: delimiters, quotes, decimal marks and formats of dates.

#include <bochner/data/formats/csv.hpp>

namespace bochner {

struct CsvDialect {
  char delimiter = ',', decimal = '.';
  char quote = '"';  ///< 0 for none
  std::string time_format = "";
  bool decimal_is_given = false;         ///< then 1,234 is a thousand with a decimal point
  bool points_may_group = false;         ///< nothing shows whether 1.234 is a thousand
  std::vector<std::size_t> months = {};  ///< columns of dates such as 07.2016
};

/// Throws std::invalid_argument unless the options name a delimiter, decimal mark and quote.
void require_dialect(const CsvOptions& options);
/// Returns the dialect of the options, with "auto" detected from the first records; `,`, `.` and
/// `"` by default.
CsvDialect csv_dialect(std::string_view text, const std::string& name, const CsvOptions& options);
/// Returns a note for the end of an error about guesses: "; fields were assumed to be separated by
/// \";\" ..", or "" if all are common or given.
std::string dialect_note(const CsvDialect& dialect, const CsvOptions& options);

/// Parses a number with this decimal mark, a point or a comma; the other one may separate thousands
/// if it cannot be a decimal mark: 1.234,5 and 1.234.567.
std::optional<double> parse_number(std::string_view text, char decimal);
/// Parses a number as above, and 1.234 as a thousand if the dialect's decimal mark was given.
std::optional<double> parse_number(std::string_view text, const CsvDialect& dialect);
/// Returns whether `group` may separate thousands: 1,234 and 1,234,567.
bool is_grouped(std::string_view text, char group);
/// Returns the common formats of parse_time() that fit the text.
std::vector<std::string> possible_time_formats(const std::string& text);
/// Returns whether the text is a missing value: empty, NA, N/A, nan, null.
bool is_missing(std::string_view text);
bool is_csv_value(std::string_view text, const CsvDialect& dialect);

/// Returns column names: the number for an empty one, or "column 1" if that is taken.
std::vector<std::string> csv_column_names(std::vector<std::string> header);

/// Trimmed fields of the first records, without blank lines; none if quotes do not match.
using CsvSample = std::vector<std::vector<std::string>>;
CsvSample csv_sample(std::string_view text, const std::string& name, char delimiter, char quote,
                     std::size_t most = 200);

}  // namespace bochner
