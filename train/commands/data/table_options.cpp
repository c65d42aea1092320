#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/train/commands/data/table_options.hpp>

namespace bochner {

ReadOptions read_options(const DataOptions& options) {
  ReadOptions reading = options.reading;
  std::ranges::for_each(options.files, refuse_pipe);
  reading.csv.columns = split_list(options.columns);
  return reading;
}

void print_table(TextTable table) {
  for (auto& row : table)
    for (std::string& text : row) text = printable(text);
  std::vector<std::size_t> widths(table[0].size());
  for (const auto& row : table)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const auto& row : table) {
    std::string line = fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i) line += fmt::format("  {:>{}}", row[i], widths[i]);
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

void add_reading(const Command& command, DataOptions& options, const std::string& missing) {
  CsvOptions& csv = options.reading.csv;
  csv.missing = missing;
  command.option("--columns", &options.columns, "csv: columns to read, by name or number", "LIST");
  command.option("--delimiter", &csv.delimiter,
                 "csv: separator of fields, one character, tab or space (default: detected)", "C");
  command.option("--decimal", &csv.decimal,
                 "csv: decimal mark, a point or a comma (default: detected)", "C");
  command.option("--quote", &csv.quote,
                 "csv: quotes around fields, double, single or none (default: detected)", "KIND");
  command.option("--header", &csv.header,
                 "csv: whether the first row names the columns: auto, yes or no", "MODE");
  command.option("--time", &csv.time, "column of time stamps, if they look like numbers", "COLUMN");
  command.option(
      "--time-format", &csv.time_format,
      "csv: format of time stamps, such as %d.%m.%Y %H:%M (default: ISO 8601 or a common one)",
      "FORMAT");
  command.option("--missing", &csv.missing,
                 "missing values: refuse, nan, forward or mean (default: " + missing + ")",
                 "POLICY");
  command.option("--array", &options.reading.array, "npz: array to read", "NAME");
}

}  // namespace bochner
