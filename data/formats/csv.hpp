#pragma once
/// Tables of numbers as comma-separated text (RFC 4180).

#include <bochner/base/keys.hpp>
#include <bochner/data/formats/array.hpp>
#include <filesystem>

namespace bochner {

/// Largest number of fields of a record, so that one line cannot exhaust the memory.
constexpr std::size_t most_csv_fields = 1 << 18;

struct CsvOptions {
  /// What a row is: "long", values of one time; "wide", a series: an id, then its values; see
  /// long_csv(), whose names the other options use.
  std::string layout = "long";
  /// Field delimiter: one character, "tab" or "space"; "auto": the one of , ; tab | by which the
  /// first records have fields that are numbers or times.
  std::string delimiter = "auto";
  /// Decimal mark, "." or ","; "auto": a comma if columns first hold numbers only with it.
  std::string decimal = "auto";
  /// Quotes: "double" or "single"; "none": quotes are ordinary characters; "auto": single if fields
  /// begin and end with them.
  std::string quote = "auto";
  /// Whether the first row names the columns: yes, no, or auto: if one of its fields is neither a
  /// number nor a time nor missing, or if it is a header of numbers; see has_csv_header().
  std::string header = "auto";
  /// Columns in this order, by name or by number from 1; none for all.
  std::vector<std::string> columns = {};
  /// Used instead if the first row names the columns: only these, and the column of time stamps.
  std::vector<std::string> named_columns = {};
  /// Whether the column of time stamps is added to chosen columns if there is one: `time`, or the
  /// first of the others whose first value is a date.
  bool adds_time = false;
  /// Columns that may hold texts, if present. Each text becomes an index, unless all are numbers.
  std::vector<std::string> texts = {};
  /// Columns of `texts` whose numbers remain texts: 007 is not 7.
  std::vector<std::string> labels = {};
  /// Column of time stamps, by name or number, for stamps that look like numbers; by default the
  /// first one whose first value is a date.
  std::string time = "";
  /// Further columns of the time, appended to it with a space between, numbers without leading
  /// zeros: "2016 7" and the format "%Y %m".
  std::vector<std::string> time_parts = {};
  /// Format of parse_time(); "" for ISO 8601 or, if any option is "auto", for the only common
  /// format that fits the first records of a column.
  std::string time_format = "";
  /// Time column that a model learned, used if present and none is given, and its format if several
  /// common ones fit.
  std::string learned_time = "", learned_format = "";
  /// Treatment of missing values (empty, NA, N/A, nan, null; see is_missing_number()): refuse; nan;
  /// forward: the value of the row before; mean: that of the column over the whole file.
  std::string missing = "refuse";
  /// Whether missing numbers are NaN although `missing` is "refuse".
  bool keeps_missing_numbers = false;
  /// Advice in errors about missing values.
  std::string if_missing = "choose what becomes of it: nan, forward or mean";
};
std::vector<std::string> missing_policies();
/// Keys for series and events.
inline void describe(Keys& keys, CsvOptions& options) {
  const auto of = [&](std::vector<std::string> kinds, const auto& describe_some) {
    keys.when(when("data.kind", std::move(kinds)), describe_some);
  };
  of({"series", "event_files", "sensors", "table", "texts", "labelled_series"}, [&] {
    keys("delimiter", options.delimiter, one_of({"auto", ",", ";", "tab", "|", "space"}),
         "separator of fields; auto looks at the first rows");
    keys("decimal", options.decimal, one_of({"auto", ".", ","}), "decimal mark");
    keys("quote", options.quote, one_of({"auto", "double", "single", "none"}),
         "quotes around fields that hold delimiters");
    keys("header", options.header, one_of({"auto", "yes", "no"}),
         "whether the first row names the columns; auto looks at the first rows");
  });
  of({"series", "sensors", "labelled_series"}, [&] {
    keys("columns", options.columns,
         "columns that are forecast, values of sensors, or channels; none for all");
  });
  of({"series", "event_files", "sensors", "table", "labelled_series"}, [&] {
    keys("time_column", options.time,
         "column of time stamps; by default the first with dates, and \"time\" of events and "
         "sensors");
    keys("time_format", options.time_format,
         "format of time stamps, such as %d.%m.%Y %H:%M, %s for seconds since 1970 or %Q for "
         "milliseconds; by default ISO 8601, or a usual format that fits");
  });
  of({"series", "labelled_series"}, [&] {
    keys("layout", options.layout, one_of({"long", "wide"}),
         "a row is a time (long), or a series (wide): its id, then values, read as columns of the "
         "id, of \"value\", and of \"time\" if dates name the columns; of labelled series any "
         "columns of id and label");
  });
  of({"series"}, [&] {
    keys("time_parts", options.time_parts,
         "further columns of the time, such as month and day, or the hour: appended to the time "
         "column with a space between, as in data.time_format = \"%Y %m\"");
    keys("missing", options.missing, one_of({"refuse", "forward"}),
         "missing values are an error, or take the value of the row before (forward)");
  });
}

/// Parses a table into (rows, columns), times in seconds since 1970 UTC. Skips blank lines if rows
/// have several fields. Uses at most 24 bytes of memory per byte of text, and those of one row.
/// Throws DataError with file, line and column for rows of different size, fields that are not
/// finite numbers, integers without an exact double, missing time stamps, missing or repeated
/// columns, and tables without rows.
NamedArray parse_csv(std::string_view text, const std::string& name,
                     const CsvOptions& options = {});
/// Reads a file, plain or gzip, or standard input ("-") with parse_csv().
NamedArray read_csv(const std::filesystem::path& path, const CsvOptions& options = {});

/// Writes one row per line, after the names if there are any: numbers as parse_csv reads them back
/// exactly, times as dates. (n) becomes one column. Throws std::invalid_argument for other shapes
/// than (n) and (n, columns).
void write_csv(const NamedArray& array, const Sink& sink, char delimiter = ',');

}  // namespace bochner
