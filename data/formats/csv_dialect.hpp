#pragma once
/// How tables are written: what stands between fields, around them, before decimals and in dates.

#include <bochner/data/formats/csv.hpp>
#include <optional>

namespace bochner {

struct CsvDialect {
  char delimiter = ',', decimal = '.';
  char quote = '"';  ///< 0 for none
  std::string time_format = "";
  bool decimal_is_said = false;          ///< so that 1,234 beside a decimal point is a thousand
  bool points_may_group = false;         ///< nothing says that 1.234 is no thousand
  std::vector<std::size_t> months = {};  ///< columns of dates such as 07.2016, numbers too
};

/// Throws std::invalid_argument where the options name no delimiter, decimal or quote.
void require_dialect(const CsvOptions& options);
/// What the options say and, where they say "auto", what the first records tell; `,`, `.` and `"`
/// where these tell nothing.
CsvDialect csv_dialect(std::string_view text, const std::string& name, const CsvOptions& options);
/// For the end of an error: "; fields were taken to stand between \";\" ..", "" of the usual ones
/// and of those that the options name.
std::string guess_words(const CsvDialect& dialect, const CsvOptions& options);

/// parse_number() of a text with this before its decimals, a point or a comma; the other one may
/// stand between thousands where it cannot be taken for decimals: 1.234,5 and 1.234.567.
std::optional<double> parse_number(std::string_view text, char decimal);
/// The same, and 1.234 where the dialect's decimals were not guessed.
std::optional<double> parse_number(std::string_view text, const CsvDialect& dialect);
/// 1,234 and 1,234,567 have commas between thousands, or decimals.
bool is_grouped(std::string_view text, char group);
/// The formats of parse_time() that the text may have, of the usual ones.
std::vector<std::string> possible_time_formats(const std::string& text);
/// Whether the text stands for a value that is missing: nothing, NA, nan, null.
bool is_missing(std::string_view text);
/// A number, a time or missing.
bool is_csv_value(std::string_view text, const CsvDialect& dialect);

/// What columns are called whose header this is: one without a name by its number, or "column 1"
/// where another is called so.
std::vector<std::string> csv_column_names(std::vector<std::string> header);

/// The fields of the first records but blank lines, trimmed; none where quotes do not fit.
using CsvSample = std::vector<std::vector<std::string>>;
CsvSample csv_sample(std::string_view text, const std::string& name, char delimiter, char quote,
                     std::size_t most = 200);

}  // namespace bochner
