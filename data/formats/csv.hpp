#pragma once
/// Tables of numbers as comma-separated text (RFC 4180).

#include <bochner/base/keys.hpp>
#include <bochner/data/formats/array.hpp>
#include <filesystem>

namespace bochner {

/// Of a record, so that one line alone cannot take all memory.
constexpr std::size_t most_csv_fields = 1 << 18;

struct CsvOptions {
  /// Between fields: one character, "tab" or "space"; "auto": that of , ; tab | by which the first
  /// records have fields that are numbers or times.
  std::string delimiter = "auto";
  /// "." or ","; "auto": a comma where columns of the first records are numbers only so.
  std::string decimal = "auto";
  /// Around fields: "double" or "single"; "none" where quotes are letters like others; "auto":
  /// single where fields begin and end so.
  std::string quote = "auto";
  /// Whether the first row names the columns: yes, no, or auto: when one of its fields is neither
  /// a number nor a time nor missing.
  std::string header = "auto";
  /// Which columns in which order, by name or by number from 1; none for all.
  std::vector<std::string> columns = {};
  /// Where the first row names the columns, only these, and the column of time stamps if there is
  /// one: `time`, or the first of the others whose first value is a date.
  std::vector<std::string> named_columns = {};
  /// Columns that may hold texts, if they are there: each other text is another number, unless all
  /// are numbers.
  std::vector<std::string> texts = {};
  /// Those of them whose numbers stay texts: 007 is not 7.
  std::vector<std::string> labels = {};
  /// The column of time stamps, by name or number, for stamps that look like numbers; without it,
  /// the first in the file whose first value is a date.
  std::string time = "";
  /// Of parse_time(); "" for ISO 8601, or, if anything is "auto", for the only one of some usual
  /// formats that the first records of a column have.
  std::string time_format = "";
  /// Of time stamps that a model has learned: the column which holds them if it is there and none
  /// is said, and which format they have where several of the usual ones fit.
  std::string learned_time = "", learned_format = "";
  /// What becomes of missing values (nothing, NA, N/A, nan, null): refuse; nan; forward, the value
  /// of the row before; mean, that of the column over the whole file.
  std::string missing = "refuse";
  /// What an error says to do about them.
  std::string if_missing = "choose what becomes of it: nan, forward or mean";
};
/// The policies above.
std::vector<std::string> missing_policies();
/// Of series and events.
inline void describe(Keys& keys, CsvOptions& options) {
  keys("delimiter", options.delimiter, one_of({"auto", ",", ";", "tab", "|", "space"}),
       "tables: what stands between fields; auto: found out from the first rows");
  keys("decimal", options.decimal, one_of({"auto", ".", ","}),
       "tables: what stands before the decimals of a number");
  keys("quote", options.quote, one_of({"auto", "double", "single", "none"}),
       "tables: what stands around fields that hold delimiters");
  keys("columns", options.columns,
       "series: columns of the file that are forecast; sensors: those of values; none for all");
  keys("time_column", options.time,
       "series, event_files, sensors, table: the column of time stamps; by default the first that "
       "holds dates, if data.columns names none; of events and sensors, \"time\"");
  keys("time_format", options.time_format,
       "series, event_files, sensors, table: how time stamps are written, such as %d.%m.%Y %H:%M, "
       "%s for seconds since 1970 or %Q for milliseconds; by default ISO 8601, or the usual format "
       "that fits");
  keys("missing", options.missing, one_of({"refuse", "forward"}),
       "series: what becomes of missing values: an error, or the value of the row before "
       "(forward)");
}

/// (rows, columns), times in seconds since 1970 UTC. Blank lines are passed over where rows have
/// several fields. Memory is at most 24 bytes for each byte of text,
/// beside those for one row. Throws DataError with file,
/// line and column for rows of different size, fields that are no finite number, integers that no
/// double equals, missing time stamps, columns that are not there or named twice, and tables
/// without rows.
NamedArray parse_csv(std::string_view text, const std::string& name,
                     const CsvOptions& options = {});
/// The same of a file, plain or gzip, or of standard input ("-").
NamedArray read_csv(const std::filesystem::path& path, const CsvOptions& options = {});

/// One row a line, after the names if there are any; numbers as parse_csv reads them back to the
/// last bit, times as dates. (n) is written as one column. Throws std::invalid_argument for other
/// shapes than (n) and (n, columns).
void write_csv(const NamedArray& array, const Sink& sink, char delimiter = ',');

}  // namespace bochner
