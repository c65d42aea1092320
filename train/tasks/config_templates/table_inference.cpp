#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/csv_header.hpp>
#include <bochner/data/formats/date_formats.hpp>
#include <bochner/data/formats/plain_numbers.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/data/text/terms.hpp>
#include <bochner/train/config/parameters.hpp>
#include <bochner/train/tasks/config_templates/table_inference.hpp>
#include <map>
#include <set>

namespace bochner {

std::optional<std::size_t> InferredTable::called(std::string_view wanted) const {
  const auto same = [&](const std::string& name) { return lower_case(name) == wanted; };
  const auto found = std::ranges::find_if(names, same);
  return found == names.end() ? std::nullopt : std::optional(found - names.begin());
}

std::string InferredTable::reason(std::size_t column) const {
  const auto is_in = [&](const auto& columns) { return is_among(column, columns); };
  if (const auto found = reasons.find(column); found != reasons.end()) return found->second;
  return is_in(empty)         ? "empty at the start"
         : is_in(row_numbers) ? "row numbers"
         : is_in(times)       ? "dates"
         : is_in(words)       ? "texts"
                              : "";
}

namespace {

/// Returns the format of a time of day, or "".
std::string clock_format(const std::string& text) {
  for (const char* format : {"%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p", "%I %p", "%H.%M.%S"})
    if (parse_time(text, format)) return format;
  return "";
}

bool names_a_date(const std::string& column) {
  constexpr std::string_view names[] = {"date", "datetime", "timestamp", "ds",    "time",  "day",
                                        "week", "month",    "quarter",   "datum", "period"};
  return std::ranges::find(names, lower_case(column)) != std::end(names);
}

/// Returns whether a text begins with a digit or has those of a year.
bool may_be_a_date(const std::string& text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && (is_digit(text[0]) || std::ranges::count_if(text, is_digit) >= 4);
}

/// Returns whether a text is a date such as 20160701 or 2016070115.
bool is_compact_date(const std::string& text) {
  return text.size() >= 8 && text.size() <= 14 && parse_count(text) && text >= "19" &&
         text < "22" && parse_time(text.substr(0, 8), "%Y%m%d");
}

bool has_digit(const std::string& text) { return text.find_first_of("0123456789") != text.npos; }

/// Returns whether a column is named like an id, a type or a label, whose values are texts even
/// where most are numbers.
bool names_texts(const std::string& column) {
  const std::string name = lower_case(column);
  for (const char* label : {"label", "class", "category", "sentiment", "topic"})
    if (name == label) return true;
  return names_an_id(name) || std::ranges::find(type_names, name) != std::end(type_names);
}

bool are_most(std::size_t some, std::size_t count) { return count > 0 && 10 * some >= 9 * count; }

/// Counts of values in some rows of a column, without missing ones.
struct SampledColumn {
  std::size_t column, count = 0, numbers = 0, whole = 0, compact = 0, rises = 0, times = 0;
  std::size_t words = 0;                   ///< in all cells
  std::size_t marks = 0;                   ///< missing values only of numbers, such as "None"
  std::size_t no_number = 0, no_time = 0;  ///< the last row with something else
  std::size_t mark = 0, dressed = 0;       ///< the last row with a mark, and with another unit
  /// Numbers and times in formats that are not read.
  std::size_t of_day = 0, of_formats = 0, grouped = 0, spaced = 0, of_other_mark = 0;
  ColumnUnits unit;                          ///< of the numbers
  std::map<std::string, std::size_t> units;  ///< counts of numbers with other units
  bool has_decimals = false;                 ///< whether one of these has a point or comma
  std::string clock;                         ///< format of the last time of day
  std::optional<std::size_t> above;          ///< the whole number before
  std::set<std::string> texts;

  SampledColumn(const CsvSample& sample, std::size_t column, std::size_t first,
                const CsvDialect& dialect)
      : column(column) {
    for (std::size_t row = first; row < sample.size(); ++row)
      if (column < sample[row].size() && !is_missing(sample[row][column]))
        see(sample[row][column], row, dialect);
  }

  void see(const std::string& text, std::size_t row, const CsvDialect& dialect) {
    ++count, words += words_of(text).size();
    texts.insert(text);
    const auto whole_number = parse_count(text);
    whole += whole_number.has_value(), compact += is_compact_date(text);
    rises += above && whole_number > above;
    above = whole_number;
    const bool is_number = has_number(text, dialect),
               is_time = parse_time(text, dialect.time_format).has_value();
    numbers += is_number, times += is_time;
    if (!is_time) no_time = row;
    if (is_missing_number(text)) {
      ++marks, mark = row;
    } else if (!is_number) {
      no_number = row;
      if (!is_time) see_other(text, row, dialect);
    }
  }

  /// Returns whether a text is a number in the unit of the column.
  bool has_number(const std::string& text, const CsvDialect& dialect) {
    const auto number = parse_number(text, dialect);
    const auto quantity =
        number ? std::optional(NumberWithUnit{*number}) : parse_quantity(text, dialect);
    return quantity && unit.accept(*quantity);
  }

  void see_other(const std::string& text, std::size_t row, const CsvDialect& dialect) {
    const std::string other = unit_of(text);
    if (const std::string format = clock_format(text); !format.empty()) ++of_day, clock = format;
    grouped += is_grouped(text, dialect.decimal == '.' ? ',' : '.');
    spaced += may_be_columns(text, dialect);
    of_other_mark +=
        parse_number(without_unit(text), dialect.decimal == '.' ? ',' : '.').has_value();
    of_formats += !possible_time_formats(text).empty();
    if (other.empty()) return;
    ++units[other], has_decimals |= text.find_first_of(".,") != text.npos;
    dressed = row;
  }

  /// Counts the cells that are neither missing nor marks.
  std::size_t values() const { return count - marks; }
  bool are_numbers() const { return numbers > 0 && numbers == values(); }
  bool are_times() const { return times == count; }
  bool are_nearly_all(std::size_t some, std::size_t all, std::size_t share) const {
    return some > 0 && some < all && share * (all - some) <= all;
  }

  /// Returns whether nearly all values are numbers, in two units.
  bool are_quantities() const {
    return units.size() == 1 && are_most(numbers + units.begin()->second, values());
  }
  /// Returns whether they are times of day in one format.
  bool are_clock() const { return are_most(of_day, count); }

  /// Returns whether nearly all texts differ and hold digits, as no names of types do.
  bool are_codes() const {
    constexpr std::size_t fewest = 10;
    return texts.size() >= fewest && are_most(texts.size(), count) &&
           are_most(std::size_t(std::ranges::count_if(texts, has_digit)), texts.size());
  }

  /// Throws DataError if at most 10 % of the cells are not numbers like the others, or at most 2 %
  /// are not dates.
  void require_one_kind(const std::string& file, const std::string& name,
                        const CsvSample& sample) const {
    if (are_times() || are_numbers() || names_texts(name)) return;
    const bool numeric = are_nearly_all(numbers, values(), 10),
               formats = numbers + grouped + spaced == values();
    if ((numeric && formats) || (!numeric && !are_nearly_all(times, count, 50))) return;
    const std::size_t row = numeric ? no_number : no_time;
    throw DataError(odd_cell(file, name, sample, row, numeric ? "numbers" : "dates"));
  }

  std::string odd_cell(const std::string& file, const std::string& name, const CsvSample& sample,
                       std::size_t row, const char* others) const {
    return in_words(file, ": column ", excerpt(name), ": row ", row + 1, " has ",
                    excerpt(sample[row][column]), " where other rows have ", others,
                    "; correct it, or leave it empty if it is missing");
  }

  /// Returns an error text for numbers in two units.
  std::string unit_error(const std::string& where, const CsvSample& sample) const {
    return in_words(where, excerpt(sample[dressed][column]), " (row ", dressed + 1,
                    ") has another unit than other rows",
                    unit.unit().empty() ? "" : ", " + in_quotes(unit.unit()),
                    "; write all numbers of the column in one unit");
  }

  /// Returns an error text for words that look like numbers in a format that is not read, else "".
  std::string number_error(const std::string& where, const CsvSample& sample) const {
    const auto shown = [&](std::size_t row) { return excerpt(sample[row][column]); };
    const bool differ = 4 * texts.size() > count;
    if (are_quantities() && differ) return unit_error(where, sample);
    if (are_most(numbers + grouped, values()) && grouped > 0)
      return in_words(where, shown(no_number),
                      " may have decimals or a thousands separator: set the decimal mark, as in "
                      "--set data.decimal=, (row ",
                      no_number + 1, ")");
    if (are_most(numbers + of_other_mark, values()) && of_other_mark > 0)
      return in_words(where, shown(no_number), " (row ", no_number + 1,
                      ") has another decimal mark than other columns; write all numbers with one");
    if (are_most(numbers + spaced, values()) && spaced > 0)
      return in_words(where, shown(no_number), " ", spaced_number_message(), " (row ",
                      no_number + 1, ")");
    return "";
  }

  /// Returns an error text for words that look like dates in a format that is not read, else "".
  std::string date_error(const std::string& file, const std::string& name,
                         const CsvSample& sample) const {
    const std::string where = in_words(file, ": column ", excerpt(name), ": ");
    const auto shown = [&](std::size_t row) { return excerpt(sample[row][column]); };
    if (are_nearly_all(times, count, 10)) return odd_cell(file, name, sample, no_time, "dates");
    if (are_most(times + of_formats, count) && of_formats > 0)
      return in_words(where, shown(no_time), " may be a time as ",
                      joined(possible_time_formats(sample[no_time][column]), " or "),
                      "; set one, as in --set data.time_format='%d/%m/%Y'");
    if (!names_a_date(name) || !std::ranges::all_of(texts, may_be_a_date)) return "";
    return in_words(where, shown(no_time),
                    " is not in a known date format; set the format, as in --set "
                    "data.time_format='%d.%m.%y', or write it as 2016-07-01");
  }

  /// Returns an error text for words that look like numbers or dates in a format that is not read,
  /// else "".
  std::string format_error(const std::string& file, const std::string& name,
                           const CsvSample& sample, bool has_times) const {
    const std::string where = in_words(file, ": column ", excerpt(name), ": ");
    if (const std::string error = names_texts(name) ? "" : number_error(where, sample);
        !error.empty())
      return error;
    if (are_clock())
      return has_times ? ""
                       : in_words(where, excerpt(sample[no_time][column]),
                                  " is a time without a date; write both in one column");
    return has_times ? "" : date_error(file, name, sample);
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
  if (numbers && column.whole == column.count && 4 * column.rises >= 3 * (column.count - 1))
    table.rising.push_back(i);
  if (numbers && column.compact == column.count) table.compact_dates.push_back(i);
  if (numbers && !column.unit.unit().empty()) table.measures.push_back(i);
  if (column.are_clock()) table.clocks[i] = column.clock;
}

/// Adds the marks of missing values of a column, and errors if its texts become types of events.
void add_notes(const SampledColumn& column, const std::string& file, const CsvSample& sample,
               InferredTable& table) {
  const std::size_t i = column.column;
  const std::string& name = table.names[i];
  const std::string where = in_words(file, ": column ", excerpt(name), ": ");
  if (column.are_numbers() && column.marks > 0)
    table.marks[i] = in_words(in_quotes(name), " (", in_quotes(sample[column.mark][i]), " in ",
                              column.marks, " of the first ", table.sampled, " rows)");
  if (column.are_numbers()) return;
  if (column.are_codes())
    table.codes[i] =
        in_words(where, "row ", column.no_number + 1, " has ", excerpt(sample[column.no_number][i]),
                 ", which is not a number; nearly all rows have different texts, so "
                 "they are not types of events; write plain numbers");
  if (names_texts(name)) return;
  if (column.are_quantities()) {
    table.almost_numbers[i] = column.unit_error(where, sample);
    if (column.has_decimals) table.quantities.push_back(i);
  } else if (column.numbers > 0 && 5 * column.numbers >= 4 * column.values()) {
    table.almost_numbers[i] = column.odd_cell(file, name, sample, column.no_number, "numbers");
  }
}

}  // namespace

InferredTable infer_table(std::string_view text, const std::string& name,
                          const CsvOptions& options) {
  const CsvDialect dialect = csv_dialect(text, name, options);
  const CsvSample sample = csv_sample(text, name, dialect.delimiter, dialect.quote);
  if (sample.empty()) throw DataError(name, ": is empty, or a quote is not closed");
  InferredTable table;
  table.options = options;
  table.time_format = dialect.time_format;
  std::vector<SampledColumn> columns;
  table.has_header = has_csv_header(sample, name, dialect, options);
  table.names =
      csv_column_names(table.has_header ? sample[0] : std::vector<std::string>(sample[0].size()));
  table.sampled = sample.size() - (table.has_header ? 1 : 0);
  for (std::size_t i = 0; i < sample[0].size(); ++i) {
    require_utf8(name, table.names[i], text);
    const SampledColumn column(sample, i, table.has_header ? 1 : 0, dialect);
    column.require_one_kind(name, table.names[i], sample);
    add_notes(column, name, sample, table);
    columns.push_back(column);
    table.texts.push_back(column.texts.size());
    table.words_per_cell.push_back(double(column.words) /
                                   double(std::max(column.count, std::size_t(1))));
    if (table.has_header && is_index(sample, i))
      table.row_numbers.push_back(i);
    else
      sort_in(column, i, std::ranges::count(dialect.months, i) > 0, table);
  }
  for (const std::size_t i : table.words)
    if (table.unread.empty())
      table.unread = columns[i].format_error(name, table.names[i], sample, !table.times.empty());
  const auto lines = std::size_t(std::count(text.begin(), text.end(), '\n'));
  table.rows = lines + (text.ends_with('\n') ? 0 : 1) - (table.has_header ? 1 : 0);
  return table;
}

std::vector<std::string> id_candidates(const InferredTable& table) {
  if (!table.request.id.empty()) return {table.request.id};
  std::vector<std::string> candidates;
  for (const auto* columns : {&table.words, &table.whole_numbers, &table.measures})
    for (const std::size_t i : *columns)
      if (columns != &table.measures || 4 * table.texts[i] <= table.sampled)
        candidates.push_back(table.names[i]);
  return candidates;
}

std::optional<std::size_t> time_column(const InferredTable& table) {
  if (!table.request.time.empty()) return table.called(lower_case(table.request.time));
  for (const char* name : {"time", "timestamp", "t"})
    if (const auto column = table.called(name)) return column;
  return table.times.empty() ? std::nullopt : std::optional(table.times[0]);
}

std::optional<std::size_t> type_column(const InferredTable& table, std::size_t time) {
  if (!table.request.target.empty()) {
    const std::size_t target = *table.called(lower_case(table.request.target));
    const bool is_type = table.request.kind == "events" || std::ranges::count(table.words, target);
    return is_type ? std::optional(target) : std::nullopt;
  }
  for (const std::string_view name : type_names)
    if (const auto column = table.called(name); column && !table.codes.contains(*column))
      return column;
  const bool has_numbers = !std::ranges::all_of(
      table.numbers, [&](std::size_t i) { return i == time || names_an_id(table.names[i]); });
  const bool is_asked = table.request.kind == "events";
  if ((has_numbers && !is_asked) || table.words.empty()) return std::nullopt;
  if (!table.almost_numbers.empty()) throw DataError(table.almost_numbers.begin()->second);
  std::vector<std::size_t> types = table.words;
  std::erase_if(types, [&](std::size_t i) { return names_an_id(table.names[i]); });
  if (types.empty()) return std::nullopt;
  std::erase_if(types, [&](std::size_t i) { return table.codes.contains(i); });
  if (types.empty()) throw DataError(table.codes.at(table.words[0]));
  return *std::ranges::min_element(types, {}, [&](std::size_t i) { return table.texts[i]; });
}

std::optional<std::size_t> sequence_column(const InferredTable& table, std::size_t time,
                                           std::size_t type) {
  if (!table.request.id.empty()) return table.called(lower_case(table.request.id));
  for (std::size_t i = 0; i < table.names.size(); ++i)
    if (i != time && i != type && names_an_id(table.names[i]) && table.texts[i] < table.sampled)
      return i;
  std::vector<std::size_t> others = table.words;
  std::erase(others, type);
  const bool are_few = others.size() == 1 && 4 * table.texts[others[0]] <= table.sampled;
  return are_few ? std::optional(others[0]) : std::nullopt;
}

}  // namespace bochner
