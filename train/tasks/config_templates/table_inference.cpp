#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/csv_dialect.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/train/tasks/config_templates/table_inference.hpp>
#include <set>

namespace bochner {

std::optional<std::size_t> InferredTable::called(std::string_view wanted) const {
  const auto same = [&](const std::string& name) { return lower_case(name) == wanted; };
  const auto found = std::ranges::find_if(names, same);
  return found == names.end() ? std::nullopt : std::optional(found - names.begin());
}

namespace {

/// Returns a number without units and separators: "1'000.50 €", "50.7%", "−3"; "(12)" becomes
/// "-12".
std::string plain_number(std::string_view text) {
  const bool is_negative = text.starts_with('(') && text.ends_with(')');
  std::string plain(is_negative ? text.substr(1, text.size() - 2) : text);
  const auto replace = [&](std::string_view part, std::string_view by) {
    for (std::size_t at; (at = plain.find(part)) != plain.npos;) plain.replace(at, part.size(), by);
  };
  for (const char* mark : {"%", "$", "€", "£", "¥", "'", "’", "\u202f", "\u00a0", "\x80"})
    replace(mark, "");
  replace("\u2212", "-");
  return (is_negative ? "-" : "") + std::string(trimmed(plain));
}

bool is_formatted_number(const std::string& text) {
  const std::string plain = plain_number(text);
  return plain != text && (parse_number(plain, '.') || parse_number(plain, ','));
}

bool is_time_of_day(const std::string& text) {
  return parse_time(text, "%H:%M") || parse_time(text, "%H:%M:%S");
}

bool names_a_date(const std::string& column) {
  constexpr std::string_view names[] = {"date",  "datetime", "timestamp", "day",   "week",
                                        "month", "quarter",  "datum",     "period"};
  return std::ranges::find(names, lower_case(column)) != std::end(names);
}

bool begins_with_digit(const std::string& text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9';
}

/// Counts of values in some rows of a column, without missing ones.
struct SampledColumn {
  std::size_t column, count = 0, numbers = 0, whole = 0, times = 0;
  std::size_t no_number = 0, no_time = 0;  ///< the last row with something else
  /// Numbers and times in formats that are not read.
  std::size_t formatted = 0, of_day = 0, of_formats = 0, grouped = 0;
  std::set<std::string> texts;

  SampledColumn(const CsvSample& sample, std::size_t column, std::size_t first,
                const CsvDialect& dialect)
      : column(column) {
    for (std::size_t row = first; row < sample.size(); ++row) {
      if (column >= sample[row].size() || is_missing(sample[row][column])) continue;
      const std::string& text = sample[row][column];
      ++count;
      texts.insert(text);
      whole += parse_count(text).has_value();
      const bool is_number = parse_number(text, dialect).has_value(),
                 is_time = parse_time(text, dialect.time_format).has_value();
      numbers += is_number, times += is_time;
      if (!is_number) no_number = row;
      if (!is_time) no_time = row;
      if (is_number || is_time) continue;
      formatted += is_formatted_number(text), of_day += is_time_of_day(text);
      grouped += is_grouped(text, dialect.decimal == '.' ? ',' : '.');
      of_formats += !possible_time_formats(text).empty();
    }
  }
  bool are_numbers() const { return numbers == count; }
  bool are_times() const { return times == count; }

  /// Throws DataError if at most 2 % of the cells are neither numbers nor dates like the others.
  void require_one_kind(const std::string& file, const std::string& name,
                        const CsvSample& sample) const {
    const auto are_nearly_all = [&](std::size_t n) {
      return n < count && 50 * (count - n) <= count;
    };
    if (are_times() || are_numbers()) return;
    const bool numeric = are_nearly_all(numbers);
    if (!numeric && !are_nearly_all(times)) return;
    const std::size_t row = numeric ? no_number : no_time;
    throw DataError(file, ": column ", excerpt(name), ": row ", row + 1, " has ",
                    excerpt(sample[row][column]), " where other rows have ",
                    numeric ? "numbers" : "dates",
                    "; correct it, or leave it empty if it is missing");
  }

  /// Returns an error text for words that look like numbers or dates in a format that is not read,
  /// else "".
  std::string format_error(const std::string& file, const std::string& name,
                           const CsvSample& sample, bool has_times) const {
    const auto are_most = [&](std::size_t n) { return count > 0 && 10 * n >= 9 * count; };
    const std::string where = in_words(file, ": column ", excerpt(name), ": ");
    const auto shown = [&](std::size_t row) { return excerpt(sample[row][column]); };
    if (are_most(numbers + formatted) && formatted > 0)
      return in_words(where, shown(no_number), " is not a plain number; write ",
                      plain_number(sample[no_number][column]));
    if (are_most(numbers + grouped) && grouped > 0)
      return in_words(where, shown(no_number),
                      " may have decimals or a thousands separator: set the decimal mark, as in "
                      "--set data.decimal=,");
    if (are_most(of_day))
      return in_words(where, shown(no_time), " is a time without a date; write both in one column");
    if (has_times) return "";
    if (of_formats == 0 && names_a_date(name) && std::ranges::all_of(texts, begins_with_digit))
      return in_words(where, shown(no_time),
                      " is not in a known date format; set the format, as in --set "
                      "data.time_format='%d.%m.%y', or write it as 2016-07-01");
    if (!are_most(times + of_formats) || of_formats == 0) return "";
    return in_words(where, shown(no_time), " may be a time as ",
                    joined(possible_time_formats(sample[no_time][column]), " or "),
                    "; set one, as in --set data.time_format='%d/%m/%Y'");
  }
};

/// Returns whether a column without a name counts the rows, like an index written by pandas.
bool is_index(const CsvSample& sample, std::size_t column) {
  if (!sample[0][column].empty() || sample.size() < 3) return false;
  for (std::size_t row = 1; row < sample.size(); ++row) {
    if (column >= sample[row].size()) return false;
    const auto here = parse_count(sample[row][column]);
    if (!here || (row > 1 && *here != *parse_count(sample[row - 1][column]) + 1)) return false;
  }
  return true;
}

/// Returns whether a text begins with the byte order mark of UTF-16.
bool is_utf16(std::string_view text) {
  return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
}

void require_utf8(const std::string& name, const std::string& column, std::string_view text) {
  if (!is_utf8(column))
    throw DataError(name, ": the column name ", excerpt(column),
                    " is not UTF-8, which configs are; convert the file: iconv -f ",
                    is_utf16(text) ? "UTF-16" : "WINDOWS-1252", " -t UTF-8 FILE >NEW.csv");
}

/// Adds column i to the list of its kind.
void sort_in(const SampledColumn& column, std::size_t i, bool are_months, InferredTable& table) {
  if (column.count == 0) return table.empty.push_back(i);
  const bool numbers = column.are_numbers(), times = column.are_times() && (are_months || !numbers);
  (times ? table.times : numbers ? table.numbers : table.words).push_back(i);
  if (numbers && column.whole == column.count) table.whole_numbers.push_back(i);
}

/// Returns whether a column is named like an id: user, user_id, Session ID.
bool names_an_id(const std::string& column) {
  const std::string name = lower_case(column);
  for (const char* whole : {"sequence", "session", "case", "user", "id", "customer", "patient"})
    if (name == whole) return true;
  return name.ends_with("_id") || name.ends_with(" id");
}

}  // namespace

InferredTable infer_table(std::string_view text, const std::string& name,
                          const CsvOptions& options) {
  const CsvDialect dialect = csv_dialect(text, name, options);
  const CsvSample sample = csv_sample(text, name, dialect.delimiter, dialect.quote);
  if (sample.empty()) throw DataError(name, ": is empty, or a quote is not closed");
  const auto is_value = [&](const std::string& field) { return is_csv_value(field, dialect); };
  InferredTable table;
  table.options = options;
  std::vector<SampledColumn> columns;
  table.has_header = !std::ranges::all_of(sample[0], is_value);
  table.names =
      csv_column_names(table.has_header ? sample[0] : std::vector<std::string>(sample[0].size()));
  for (std::size_t i = 0; i < sample[0].size(); ++i) {
    require_utf8(name, table.names[i], text);
    const SampledColumn column(sample, i, table.has_header ? 1 : 0, dialect);
    column.require_one_kind(name, table.names[i], sample);
    columns.push_back(column);
    table.texts.push_back(column.texts.size());
    if (table.has_header && is_index(sample, i))
      table.row_numbers.push_back(i);
    else
      sort_in(column, i, std::ranges::count(dialect.months, i) > 0, table);
  }
  for (const std::size_t i : table.words)
    if (table.unread.empty())
      table.unread = columns[i].format_error(name, table.names[i], sample, !table.times.empty());
  table.sampled = sample.size() - (table.has_header ? 1 : 0);
  const auto lines = std::size_t(std::count(text.begin(), text.end(), '\n'));
  table.rows = lines + (text.ends_with('\n') ? 0 : 1) - (table.has_header ? 1 : 0);
  return table;
}

bool names_a_source(const std::string& column) {
  const std::string name = lower_case(column);
  for (const char* whole :
       {"sensor", "device", "station", "meter", "probe", "node", "machine", "channel", "tag",
        "metric", "variable", "parameter", "signal", "series", "item", "name", "site", "location"})
    if (name == whole || name == std::string(whole) + "_name") return true;
  return names_an_id(column);
}

std::optional<std::size_t> time_column(const InferredTable& table) {
  for (const char* name : {"time", "timestamp", "t"})
    if (const auto column = table.called(name)) return column;
  return table.times.empty() ? std::nullopt : std::optional(table.times[0]);
}

std::optional<std::size_t> type_column(const InferredTable& table, std::size_t time) {
  for (const char* name : {"type", "event", "activity", "action", "event_type", "event_name"})
    if (const auto column = table.called(name)) return column;
  const bool has_numbers = !std::ranges::all_of(
      table.numbers, [&](std::size_t i) { return i == time || names_an_id(table.names[i]); });
  if (has_numbers || table.words.empty()) return std::nullopt;
  return *std::ranges::min_element(table.words, {}, [&](std::size_t i) { return table.texts[i]; });
}

std::optional<std::size_t> sequence_column(const InferredTable& table, std::size_t time,
                                           std::size_t type) {
  for (std::size_t i = 0; i < table.names.size(); ++i)
    if (i != time && i != type && names_an_id(table.names[i]) && table.texts[i] < table.sampled)
      return i;
  std::vector<std::size_t> others = table.words;
  std::erase(others, type);
  const bool are_few = others.size() == 1 && 4 * table.texts[others[0]] <= table.sampled;
  return are_few ? std::optional(others[0]) : std::nullopt;
}

}  // namespace bochner
