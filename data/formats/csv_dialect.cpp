#include <algorithm>
#include <array>
#include <bochner/base/shape.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/csv_dialect.hpp>
#include <bochner/data/formats/csv_records.hpp>
#include <bochner/data/formats/date_formats.hpp>
#include <bochner/data/formats/plain_numbers.hpp>
#include <numeric>

namespace bochner {
namespace {

constexpr std::size_t sampled_bytes = 1 << 20;
constexpr std::array delimiters = {',', ';', '\t', '|', ' '};
constexpr const char* month_format = "%m.%Y";

char character_of(const std::string& option) {
  return option == "tab" ? '\t' : option == "space" ? ' ' : option[0];
}

/// Returns the present values of a column, numbers without units, and without the first record,
/// which may be a header.
std::vector<std::string> values_of(const CsvSample& sample, std::size_t column) {
  std::vector<std::string> values;
  for (std::size_t i = sample.size() > 1 ? 1 : 0; i < sample.size(); ++i)
    if (column < sample[i].size() && !is_missing_number(sample[i][column]))
      values.push_back(without_unit(sample[i][column]));
  return values;
}

/// Returns whether nine of ten values satisfy `is`; typing errors are reported later.
template <class Is>
bool are_nearly_all(const std::vector<std::string>& values, const Is& is) {
  const auto others = values.size() - std::size_t(std::ranges::count_if(values, is));
  return !values.empty() && others * 10 <= values.size();
}

bool are_times(const std::vector<std::string>& values, const char* format) {
  return are_nearly_all(
      values, [&](const std::string& text) { return parse_time(text, format).has_value(); });
}

/// Returns whether the text is a month like 7.2016, from 1900 to 2199. Other numbers, such as rates
/// of 1.2345, are not dates.
bool is_month(const std::string& text) {
  if (!parse_time(text, month_format)) return false;
  const std::string_view century = std::string_view(text).substr(text.size() - 4, 2);
  return century == "19" || century == "20" || century == "21";
}

bool is_whole_month(const std::string& text) { return text.size() == 7 && is_month(text); }

enum class Decimals { none, comma, point };

/// Returns the decimal mark of a column if most values are numbers; none if every comma, or every
/// point, may separate thousands.
Decimals decimals_of(const std::vector<std::string>& values) {
  std::size_t with_comma = 0, with_point = 0, comma_only = 0, point_only = 0;
  bool grouped = true;
  for (const std::string& text : values) {
    const bool reads_point = parse_number(text, '.').has_value();
    const bool reads_comma = parse_number(text, ',').has_value();
    const bool is_either = reads_point && !reads_comma && is_grouped(text, '.');
    with_point += reads_point;
    with_comma += reads_comma || is_either;
    point_only += reads_point && !reads_comma && !is_either;
    comma_only += reads_comma && !reads_point;
    if (reads_comma && !reads_point) grouped &= is_grouped(text, ',');
  }
  const bool commas = comma_only > 0 && point_only == 0 && !grouped;
  if (commas && 2 * with_comma > values.size()) return Decimals::comma;
  return point_only > 0 && 2 * with_point > values.size() ? Decimals::point : Decimals::none;
}

/// Returns the decimal mark of all columns; numbers like 01.2024 may be dates.
Decimals decimals_of(const CsvSample& sample) {
  bool comma = false, point = false;
  for (std::size_t i = 0; !sample.empty() && i < sample[0].size(); ++i) {
    const std::vector<std::string> values = values_of(sample, i);
    const Decimals decimals = decimals_of(values);
    comma |= decimals == Decimals::comma;
    point |= decimals == Decimals::point && !are_nearly_all(values, is_month);
  }
  return point ? Decimals::point : comma ? Decimals::comma : Decimals::none;
}

char quote_of(std::string_view text, const std::string& name, char delimiter) {
  bool single = false;
  for (const auto& record : csv_sample(text, name, delimiter, 0))
    for (const std::string& field : record) {
      if (field.size() >= 2 && field.front() == '"' && field.back() == '"') return '"';
      single |= field.size() >= 2 && field.front() == '\'' && field.back() == '\'';
    }
  return single ? '\'' : '"';
}

/// Scores how well a dialect splits a text: how many records are as wide as the first, and what
/// share of their fields are values.
double fit_of(const CsvSample& sample, const CsvDialect& dialect) {
  constexpr double of_width = 1e-3;
  double fit = 0;
  const std::size_t width = sample.empty() ? 0 : sample[0].size();
  for (const auto& record : sample) {
    if (width < 2 || record.size() != width) continue;
    fit += of_width;
    for (const std::string& field : record) {
      const bool is_value = is_csv_value(field, dialect) ||
                            parse_number(without_unit(field), ',') ||
                            !possible_time_formats(field).empty();
      fit += is_value && !field.empty() ? 1 / double(width) : 0;
    }
  }
  return fit;
}

/// Returns the columns of a sample, beginning with the one that the options name as the time.
std::vector<std::size_t> columns_of(const CsvSample& sample, const CsvOptions& options) {
  if (sample.empty()) return {};
  std::vector<std::size_t> columns(sample[0].size());
  std::iota(columns.begin(), columns.end(), std::size_t(0));
  const std::string& named = options.time.empty() ? options.learned_time : options.time;
  if (const auto time = find_column(sample[0], sample[0].size(), named))
    std::rotate(columns.begin(), columns.begin() + std::ptrdiff_t(*time),
                columns.begin() + std::ptrdiff_t(*time) + 1);
  return columns;
}

/// Returns the values of the first column of dates that are neither numbers nor ISO times; none if
/// there is a column of ISO times.
std::vector<std::string> dates_in(const CsvSample& sample, const CsvOptions& options,
                                  const CsvDialect& dialect) {
  std::vector<std::string> found;
  for (const std::size_t i : columns_of(sample, options)) {
    const std::vector<std::string> values = values_of(sample, i);
    if (are_times(values, "")) return {};
    const bool numbers = std::ranges::all_of(
        values, [&](const std::string& text) { return parse_number(text, dialect).has_value(); });
    if (found.empty() && !numbers && !time_formats_of(values).empty()) found = values;
  }
  return found;
}

/// Returns the columns of months, if a guessed decimal point does not prove them numbers.
std::vector<std::size_t> columns_of_months(const CsvSample& sample, const CsvDialect& dialect) {
  std::vector<std::size_t> columns;
  if (dialect.decimal_is_given || dialect.decimal != '.' || sample.empty()) return columns;
  for (std::size_t i = 0; i < sample[0].size(); ++i) {
    const std::vector<std::string> values = values_of(sample, i);
    if (are_times(values, "")) return {};
    if (are_nearly_all(values, is_whole_month)) columns.push_back(i);
  }
  return columns;
}

CsvDialect given_dialect(const CsvOptions& options) {
  CsvDialect given{.time_format = options.time_format};
  if (options.quote != "auto")
    given.quote = options.quote == "double" ? '"' : options.quote == "single" ? '\'' : '\0';
  given.decimal_is_given = options.decimal != "auto";
  if (given.decimal_is_given) given.decimal = options.decimal[0];
  if (options.delimiter != "auto") given.delimiter = character_of(options.delimiter);
  return given;
}

/// Returns whether blanks delimit most records into columns of values, and do not lie within the
/// numbers or times of a single column.
bool are_blank_delimited(std::string_view text, const std::string& name, const CsvSample& sample,
                         double fit, char quote) {
  std::vector<std::string> lines;
  for (const auto& record : csv_sample(text, name, '\0', quote)) lines.push_back(record[0]);
  const bool is_column = are_nearly_all(lines, [](const std::string& line) {
    return parse_number(line, '.') || parse_number(line, ',') || parse_time(line) ||
           !possible_time_formats(line).empty();
  });
  return !is_column && 2 * fit >= double(sample.size() - 1);
}

/// Sets delimiter and quote, unless given, to the best fit. Returns a sample read with them.
CsvSample find_delimiter(std::string_view text, const std::string& name, const CsvOptions& options,
                         CsvDialect& best) {
  double best_fit = -1;
  CsvSample best_sample;
  for (const char delimiter : delimiters) {
    CsvDialect dialect = best;
    if (options.delimiter == "auto") dialect.delimiter = delimiter;
    if (options.quote == "auto") dialect.quote = quote_of(text, name, dialect.delimiter);
    CsvSample sample = csv_sample(text, name, dialect.delimiter, dialect.quote);
    const double fit = fit_of(sample, dialect);
    if (delimiter == ' ' && fit > best_fit &&
        !are_blank_delimited(text, name, sample, fit, dialect.quote))
      break;
    if (fit > best_fit) {
      best_fit = fit;
      best_sample = std::move(sample);
      best = dialect;
    }
    if (options.delimiter != "auto") break;
  }
  return best_sample;
}

/// Sets the format of times if only one fits, or the one that a model learned.
void find_times(std::string_view text, const std::string& name, const CsvOptions& options,
                const CsvSample& sample, CsvDialect& dialect) {
  std::vector<std::string> dates = dates_in(sample, options, dialect),
                           formats = time_formats_of(dates);
  if (formats.size() > 1) {  // later rows may show whether day or month comes first
    dates =
        dates_in(csv_sample(text, name, dialect.delimiter, dialect.quote, std::string_view::npos),
                 options, dialect);
    formats = time_formats_of(dates);
  }
  if (std::ranges::count(formats, options.learned_format) > 0) formats = {options.learned_format};
  if (formats.size() > 1) formats = evenly_spaced_formats(formats, dates);
  if (formats.empty()) dialect.months = columns_of_months(sample, dialect);
  if (!dialect.months.empty()) formats = {month_format};
  if (formats.size() == 1) dialect.time_format = formats[0];
  if (formats.size() > 1) dialect.possible_formats = formats;
}

}  // namespace

bool may_be_columns(std::string_view text, const CsvDialect& dialect) {
  return dialect.is_one_column && text.find(' ') != text.npos &&
         parse_number(text, dialect.decimal);
}

std::string spaced_number_message() {
  return "may have a space between thousands, or between columns: set data.delimiter (--delimiter) "
         "to \",\" or \"space\"";
}

std::optional<double> parse_number(std::string_view text, const CsvDialect& dialect) {
  const char group = dialect.decimal == '.' ? ',' : '.';
  if (may_be_columns(text, dialect)) return std::nullopt;
  if (!dialect.decimal_is_given || !is_grouped(text, group))
    return parse_number(text, dialect.decimal);
  std::string digits(text);
  std::erase(digits, group);
  return parse_number(digits);
}

std::optional<TimeStamp> parse_stamp(std::string_view text, const CsvDialect& dialect) {
  std::string plain(text);
  if (dialect.decimal == ',' && dialect.time_format == "%s") std::ranges::replace(plain, ',', '.');
  return parse_stamp(plain, dialect.time_format);
}

bool is_csv_value(std::string_view text, const CsvDialect& dialect) {
  return is_missing(text) || parse_number(text, dialect) || parse_time(text, dialect.time_format) ||
         parse_quantity(text, dialect);
}

std::vector<std::string> csv_column_names(std::vector<std::string> header) {
  const std::vector<std::string> given = header;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (!given[i].empty()) continue;
    header[i] = std::to_string(i + 1);
    if (std::ranges::count(given, header[i]) > 0) header[i] = "column " + header[i];
  }
  return header;
}

CsvSample csv_sample(std::string_view text, const std::string& name, char delimiter, char quote,
                     std::size_t most) {
  const bool is_cut = text.size() > sampled_bytes;
  if (is_cut) text = text.substr(0, text.rfind('\n', sampled_bytes) + 1);
  CsvSample sample;
  try {
    CsvRecords records(text, name, delimiter, quote);
    for (std::vector<CsvField> fields; sample.size() < most && records.next(fields);) {
      if (fields.size() == 1 && trimmed(fields[0].text).empty()) continue;
      auto& record = sample.emplace_back();
      for (const CsvField& field : fields) record.emplace_back(trimmed(field.text));
    }
  } catch (const DataError&) {
    if (!is_cut) sample.clear();  // else the record may continue after the cut
  }
  return sample;
}

void require_dialect(const CsvOptions& options) {
  const std::string& delimiter = options.delimiter;
  require(
      delimiter.size() == 1 || delimiter == "auto" || delimiter == "tab" || delimiter == "space",
      "csv", "delimiter = ", excerpt(delimiter), ": must be one character, tab, space or auto");
  require(delimiter != "\"" && delimiter != "\n" && delimiter != "\r", "csv",
          "the delimiter must be neither a quote nor a line end");
  require(options.decimal == "." || options.decimal == "," || options.decimal == "auto", "csv",
          "decimal = ", excerpt(options.decimal), ": must be a point, a comma or auto");
  require(options.quote == "double" || options.quote == "single" || options.quote == "none" ||
              options.quote == "auto",
          "csv", "quote = ", excerpt(options.quote), ": must be double, single, none or auto");
  const auto policies = missing_policies();
  require(std::ranges::find(policies, options.missing) != policies.end(), "csv",
          "missing = ", excerpt(options.missing), ": must be refuse, nan, forward or mean");
  require(options.header == "auto" || options.header == "yes" || options.header == "no", "csv",
          "header = ", excerpt(options.header), ": must be auto, yes or no");
  require(options.layout == "long" || options.layout == "wide", "csv",
          "layout = ", excerpt(options.layout), ": must be long or wide");
}

CsvDialect csv_dialect(std::string_view text, const std::string& name, const CsvOptions& options) {
  CsvDialect dialect = given_dialect(options);
  if (options.delimiter != "auto" && options.decimal != "auto" && options.quote != "auto")
    return dialect;
  const CsvSample sample = find_delimiter(text, name, options, dialect);
  dialect.is_one_column = options.delimiter == "auto" && !sample.empty() && sample[0].size() == 1;
  if (options.decimal == "auto") {
    const Decimals decimals = decimals_of(sample);
    dialect.decimal = decimals == Decimals::comma ? ',' : '.';
    dialect.points_may_group = decimals == Decimals::none;
  }
  if (options.time_format.empty()) find_times(text, name, options, sample, dialect);
  return dialect;
}

std::string dialect_note(const CsvDialect& dialect, const CsvOptions& options) {
  std::string words;
  if (options.delimiter == "auto" && dialect.delimiter != ',')
    words += in_words("fields were assumed to be separated by ",
                      dialect.delimiter == '\t' ? "tabs" : excerpt({&dialect.delimiter, 1}));
  if (options.decimal == "auto" && dialect.decimal != '.')
    words += in_words(words.empty() ? "" : ", ", "numbers were assumed to have a decimal comma");
  if (!dialect.months.empty())
    words +=
        in_words(words.empty() ? "" : ", ", "numbers such as 07.2016 were assumed to be months");
  return words.empty() ? "" : "; " + words + ": set data.delimiter and data.decimal to change this";
}

}  // namespace bochner
