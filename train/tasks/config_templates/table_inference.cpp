#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/base/utf8.hpp>
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

/// "1'000.50 €", "50.7%", "(12)" and "−3" as people and programs write numbers, as a number is
/// read: parentheses stand for a sign.
std::string without_dress(std::string_view text) {
  const bool is_negative = text.starts_with('(') && text.ends_with(')');
  std::string plain(is_negative ? text.substr(1, text.size() - 2) : text);
  const auto replace = [&](std::string_view part, std::string_view by) {
    for (std::size_t at; (at = plain.find(part)) != plain.npos;) plain.replace(at, part.size(), by);
  };
  for (const char* dress : {"%", "$", "€", "£", "¥", "'", "’", "\u202f", "\u00a0", "\x80"})
    replace(dress, "");
  replace("\u2212", "-");
  return (is_negative ? "-" : "") + std::string(trimmed(plain));
}

bool is_dressed_number(const std::string& text) {
  const std::string plain = without_dress(text);
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

/// What some rows of a column hold, missing values left out.
struct ColumnSketch {
  std::size_t column, count = 0, numbers = 0, whole = 0, times = 0;
  std::size_t no_number = 0, no_time = 0;  ///< the last row with something else
  /// Numbers and times that are not read.
  std::size_t dressed = 0, of_day = 0, of_formats = 0, grouped = 0;
  std::set<std::string> texts;

  ColumnSketch(const CsvSample& sample, std::size_t column, std::size_t first,
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
      dressed += is_dressed_number(text), of_day += is_time_of_day(text);
      grouped += is_grouped(text, dialect.decimal == '.' ? ',' : '.');
      of_formats += !possible_time_formats(text).empty();
    }
  }
  bool are_numbers() const { return numbers == count; }
  bool are_times() const { return times == count; }

  /// A few cells among many others are a mistake, and no reason to take the column for words.
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

  /// Of words that are numbers or dates to people; else they would be left out, or taken for names.
  std::string complaint(const std::string& file, const std::string& name, const CsvSample& sample,
                        bool has_times) const {
    const auto are_most = [&](std::size_t n) { return count > 0 && 10 * n >= 9 * count; };
    const std::string where = in_words(file, ": column ", excerpt(name), ": ");
    const auto shown = [&](std::size_t row) { return excerpt(sample[row][column]); };
    if (are_most(numbers + dressed) && dressed > 0)
      return in_words(where, shown(no_number), " is no number as it is written; write ",
                      without_dress(sample[no_number][column]));
    if (are_most(numbers + grouped) && grouped > 0)
      return in_words(where, shown(no_number),
                      " may have decimals, or a mark between thousands: say what stands before "
                      "decimals, as in --set data.decimal=,");
    if (are_most(of_day))
      return in_words(where, shown(no_time),
                      " is a time without its day: write both in one column");
    if (has_times) return "";
    if (of_formats == 0 && names_a_date(name) && std::ranges::all_of(texts, begins_with_digit))
      return in_words(where, shown(no_time),
                      " is no date as it is written; say how to read it, as in --set "
                      "data.time_format='%d.%m.%y', or write it as 2016-07-01");
    if (!are_most(times + of_formats) || of_formats == 0) return "";
    return in_words(where, shown(no_time), " may be a time as ",
                    joined(possible_time_formats(sample[no_time][column]), " or "),
                    ": say which, as in --set data.time_format='%d/%m/%Y'");
  }
};

/// Whether it counts the rows, as pandas writes an index: one by one, without a name.
bool is_index(const CsvSample& sample, std::size_t column) {
  if (!sample[0][column].empty() || sample.size() < 3) return false;
  for (std::size_t row = 1; row < sample.size(); ++row) {
    if (column >= sample[row].size()) return false;
    const auto here = parse_count(sample[row][column]);
    if (!here || (row > 1 && *here != *parse_count(sample[row - 1][column]) + 1)) return false;
  }
  return true;
}

/// By the mark that spreadsheets begin such a text with.
bool is_utf16(std::string_view text) {
  return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
}

void require_utf8(const std::string& name, const std::string& column, std::string_view text) {
  if (!is_utf8(column))
    throw DataError(name, ": the column name ", excerpt(column),
                    " is not UTF-8, which configs are; convert the file: iconv -f ",
                    is_utf16(text) ? "UTF-16" : "WINDOWS-1252", " -t UTF-8 FILE >NEW.csv");
}

/// Column i goes to its like.
void sort_in(const ColumnSketch& column, std::size_t i, bool are_months, InferredTable& sketch) {
  if (column.count == 0) return sketch.empty.push_back(i);
  const bool numbers = column.are_numbers(), times = column.are_times() && (are_months || !numbers);
  (times ? sketch.times : numbers ? sketch.numbers : sketch.words).push_back(i);
  if (numbers && column.whole == column.count) sketch.whole_numbers.push_back(i);
}

}  // namespace

InferredTable infer_table(std::string_view text, const std::string& name,
                          const CsvOptions& options) {
  const CsvDialect dialect = csv_dialect(text, name, options);
  const CsvSample sample = csv_sample(text, name, dialect.delimiter, dialect.quote);
  if (sample.empty()) throw DataError(name, ": is empty, or its quotes do not end");
  const auto is_value = [&](const std::string& field) { return is_csv_value(field, dialect); };
  InferredTable sketch;
  sketch.options = options;
  std::vector<ColumnSketch> columns;
  sketch.has_header = !std::ranges::all_of(sample[0], is_value);
  sketch.names =
      csv_column_names(sketch.has_header ? sample[0] : std::vector<std::string>(sample[0].size()));
  for (std::size_t i = 0; i < sample[0].size(); ++i) {
    require_utf8(name, sketch.names[i], text);
    const ColumnSketch column(sample, i, sketch.has_header ? 1 : 0, dialect);
    column.require_one_kind(name, sketch.names[i], sample);
    columns.push_back(column);
    sketch.texts.push_back(column.texts.size());
    if (sketch.has_header && is_index(sample, i))
      sketch.row_numbers.push_back(i);
    else
      sort_in(column, i, std::ranges::count(dialect.months, i) > 0, sketch);
  }
  for (const std::size_t i : sketch.words)
    if (sketch.unread.empty())
      sketch.unread = columns[i].complaint(name, sketch.names[i], sample, !sketch.times.empty());
  sketch.sampled = sample.size() - (sketch.has_header ? 1 : 0);
  const auto lines = std::size_t(std::count(text.begin(), text.end(), '\n'));
  sketch.rows = lines + (text.ends_with('\n') ? 0 : 1) - (sketch.has_header ? 1 : 0);
  return sketch;
}

}  // namespace bochner
