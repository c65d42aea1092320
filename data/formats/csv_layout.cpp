#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/csv_header.hpp>
#include <bochner/data/formats/csv_layout.hpp>
#include <bochner/data/formats/csv_records.hpp>
#include <set>

namespace bochner {
namespace {

constexpr std::size_t fewest_values = 8;

/// A table with a series in each row.
class WideTable {
 public:
  WideTable(std::string_view text, const std::string& name, const CsvOptions& options)
      : dialect_(csv_dialect(text, name, options)),
        records_(text, name, dialect_.delimiter, dialect_.quote) {
    const CsvSample sample = csv_sample(text, name, dialect_.delimiter, dialect_.quote);
    if (sample.empty() || !has_csv_header(sample, name, dialect_, options)) return;
    std::vector<CsvField> row;
    next(row);
    for (const CsvField& field : row) names_.emplace_back(trimmed(field.text));
  }

  /// Replaces `row` by the next one that is not blank.
  bool next(std::vector<CsvField>& row) {
    bool found = records_.next(row);
    while (found && row.size() == 1 && trimmed(row[0].text).empty()) found = records_.next(row);
    return found;
  }

  char decimal() const { return dialect_.decimal; }
  std::string id_name() const {
    return names_.empty() || names_[0].empty() || names_[0] == "value" || names_[0] == "time"
               ? "series"
               : names_[0];
  }
  const std::string& name_of(std::size_t column) const { return names_[column]; }

  /// Returns whether dates that ascend name the columns of numbers.
  bool has_dates() const {
    std::vector<double> times;
    for (std::size_t i = 1; i < names_.size(); ++i) {
      const auto time =
          parse_number(names_[i], dialect_) ? std::nullopt : parse_stamp(names_[i], dialect_);
      if (!time || (!times.empty() && time->seconds <= times.back())) return false;
      times.push_back(time->seconds);
    }
    return !times.empty();
  }

  bool is_number(const CsvField& field) const {
    return parse_number(trimmed(field.text), dialect_).has_value();
  }

  /// Returns the first value of a row and the end of the last one; equal without any.
  static std::pair<std::size_t, std::size_t> values_of(const std::vector<CsvField>& row) {
    std::size_t first = 1, end = row.size();
    while (first < end && is_missing_number(trimmed(row[first].text))) ++first;
    while (first < end && is_missing_number(trimmed(row[end - 1].text))) --end;
    return {first, end};
  }

  [[noreturn]] void fail_width(const CsvField& field, std::size_t width) const {
    records_.fail(field.line, field.column, "has ", width, " fields; the header names ",
                  names_.size());
  }
  std::size_t width() const { return names_.size(); }

 private:
  const CsvDialect dialect_;
  CsvRecords records_;
  std::vector<std::string> names_;  // none without a header
};

std::string in_double_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace

bool is_wide_csv(std::string_view text, const std::string& name, const CsvOptions& options) try {
  WideTable table(text, name, options);
  std::set<std::string> ids;
  bool has_short = false;
  std::size_t rows = 0, width = table.width();
  for (std::vector<CsvField> row; table.next(row); ++rows) {
    if (width == 0) width = row.size();
    if (row.size() != width || width <= fewest_values || table.is_number(row[0])) return false;
    const auto [first, end] = WideTable::values_of(row);
    has_short |= end < width;
    for (std::size_t i = first; i < end; ++i)
      if (!table.is_number(row[i])) return false;
    if (!ids.emplace(trimmed(row[0].text)).second) return false;
  }
  return rows > 1 && (has_short || table.has_dates());
} catch (const DataError&) {
  return false;  // reading it tells more
}

std::string long_csv(std::string_view text, const std::string& name, const CsvOptions& options) {
  WideTable table(text, name, options);
  const bool has_dates = table.has_dates();
  std::string lines =
      in_double_quotes(table.id_name()) + (has_dates ? ";time;value\n" : ";value\n");
  const std::size_t header = lines.size();
  for (std::vector<CsvField> row; table.next(row);) {
    if (table.width() > 0 && row.size() != table.width()) table.fail_width(row[0], row.size());
    const std::string id = in_double_quotes(trimmed(row[0].text));
    const auto [first, end] = WideTable::values_of(row);
    for (std::size_t i = first; i < end; ++i) {
      lines += id + ';';
      if (has_dates) lines += in_double_quotes(table.name_of(i)) + ';';
      lines += in_double_quotes(trimmed(row[i].text)) + '\n';
    }
  }
  if (lines.size() == header) throw DataError(name, ": has no values");
  return lines;
}

CsvOptions long_csv_options(std::string_view text, const std::string& name, CsvOptions options) {
  options.decimal = WideTable(text, name, options).decimal();
  options.delimiter = ";";
  options.quote = "double";
  options.header = "yes";
  options.layout = "long";
  return options;
}

}  // namespace bochner
