#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/shape.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/data/formats/csv_column.hpp>
#include <bochner/data/formats/csv_header.hpp>
#include <bochner/data/formats/csv_layout.hpp>
#include <bochner/data/formats/date_formats.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <cmath>
#include <set>

namespace bochner {
namespace {

constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();
constexpr const char* missing_time = "is not a time stamp; none may be missing";
using Column = CsvColumn;

class CsvTable {
 public:
  CsvTable(std::string_view text, const std::string& name, const CsvOptions& options)
      : text_(text),
        name_(name),
        options_(options),
        dialect_(csv_dialect(text, name, options)),
        records_(text, name, dialect_.delimiter, dialect_.quote) {}

  NamedArray read() {
    std::vector<CsvField> row;
    if (!next_row(row)) throw DataError(name_, ": is empty; it must hold rows of numbers");
    width_ = row.size();
    const bool has_header = is_header(row);
    if (has_header) read_names(row);
    if (has_header && !next_row(row))
      throw DataError(name_, ": has a header and no rows of numbers");
    choose_columns(row);
    do read_row(row);
    while (next_row(row));
    read_numbers_of_texts();
    require_clear_points();
    NamedArray array = result();
    if (options_.missing == "mean") fill_means(array);
    return array;
  }

 private:
  /// Reads the next row. Skips blank lines; in a table of one column they are missing values.
  bool next_row(std::vector<CsvField>& row) {
    bool found = records_.next(row);
    while (found && width_ != 1 && row.size() == 1 && trimmed(row[0].text).empty())
      found = records_.next(row);
    return found;
  }

  bool is_header(const std::vector<CsvField>& row) const {
    CsvSample sample = csv_sample(text_, name_, dialect_.delimiter, dialect_.quote);
    if (sample.empty()) sample.emplace_back();  // of a record that cannot be read
    sample[0].clear();
    for (const CsvField& field : row) sample[0].emplace_back(trimmed(field.text));
    return has_csv_header(sample, name_, dialect_, options_);
  }

  void read_names(const std::vector<CsvField>& row) {
    for (const CsvField& field : row) names_.emplace_back(trimmed(field.text));
    names_ = csv_column_names(std::move(names_));
    std::set<std::string> seen;
    for (std::size_t i = 0; i < row.size(); ++i)
      if (!seen.insert(names_[i]).second)
        records_.fail(row[i].line, row[i].column, "the column name ", excerpt(names_[i]),
                      " is repeated; rename one of the columns");
  }

  std::size_t require_column(const std::string& wanted) const {
    if (const auto found = find_column(names_, width_, wanted)) return *found;
    throw DataError(name_, ": ", no_column(names_, width_, wanted));
  }

  bool is_chosen(std::size_t index) const {
    return std::ranges::find(columns_, index, &Column::index) != columns_.end();
  }

  /// Returns whether a column holds dates that look like numbers.
  bool holds_months(std::size_t index) const {
    return options_.time.empty() && std::ranges::count(dialect_.months, index) > 0;
  }

  /// Returns the time column: requested, learned, or the first other one that begins with a date.
  std::optional<std::size_t> time_column(const std::vector<CsvField>& first) const {
    if (!options_.time.empty()) return require_column(options_.time);
    if (const auto learned = std::ranges::find(names_, options_.learned_time);
        learned != names_.end() && !options_.learned_time.empty())
      return std::size_t(learned - names_.begin());
    for (std::size_t i = 0; i < std::min(width_, first.size()); ++i) {
      const std::string_view text = trimmed(first[i].text);
      if (is_chosen(i) || (parse_number(text, dialect_) && !holds_months(i))) continue;
      if (parse_time(text, dialect_.time_format)) return i;
    }
    return std::nullopt;
  }

  /// Throws DataError if a column that is not chosen may be the time, in one of several formats.
  void require_clear_dates(const std::vector<CsvField>& first) const {
    for (std::size_t i = 0; i < std::min(width_, first.size()); ++i)
      if (!is_chosen(i) && !dialect_.possible_formats.empty() &&
          possible_time_formats(trimmed(first[i].text)).size() > 1)
        fail({i}, first[i], no_time_message(trimmed(first[i].text)));
  }

  /// Chooses the columns; `first` is the first row of numbers.
  void choose_columns(const std::vector<CsvField>& first) {
    const bool by_name = !names_.empty() && !options_.named_columns.empty();
    const auto& wanted = by_name ? options_.named_columns : options_.columns;
    for (const std::string& column : wanted) {
      const std::size_t index = require_column(column);
      if (is_chosen(index))
        throw DataError(name_, ": column ", excerpt(column), " is chosen twice");
      columns_.push_back({index});
    }
    for (std::size_t i = 0; wanted.empty() && i < width_; ++i) columns_.push_back({i});
    if (by_name || options_.adds_time)
      if (time_ = time_column(first); time_ && !is_chosen(*time_)) columns_.push_back({*time_});
    if (options_.adds_time && !time_) require_clear_dates(first);
    for (const std::string& text : options_.texts)
      for (Column& column : columns_)
        if (find_column(names_, width_, text) == column.index) column.kind = Column::Kind::text;
    for (const std::string& label : options_.labels)
      for (Column& column : columns_)
        column.is_label |= find_column(names_, width_, label) == column.index;
    if (!options_.time.empty()) time_ = require_column(options_.time);
    if (!options_.time.empty())
      for (const std::string& part : options_.time_parts)
        time_parts_.push_back(require_column(part));
    if (time_ && !is_chosen(*time_))
      throw DataError(name_, ": the time column ", excerpt(options_.time),
                      " is not among the chosen columns");
    for (Column& column : columns_)
      if (column.index == time_ ||
          (column.kind == Column::Kind::unknown && holds_months(column.index)))
        column.kind = Column::Kind::time;
  }

  void read_row(const std::vector<CsvField>& row) {
    if (row.size() != width_)
      records_.fail(row[0].line, row[0].column, "has ", row.size(),
                    row.size() == 1 ? " field" : " fields", "; the first row has ", width_,
                    dialect_note(dialect_, options_));
    for (Column& column : columns_)
      values_.push_back(value_of(column, column.index == time_ && !time_parts_.empty()
                                             ? whole_time(row)
                                             : row[column.index]));
    ++rows_;
  }

  /// Returns the time of a row whose parts are in several columns.
  CsvField whole_time(const std::vector<CsvField>& row) {
    CsvField whole = row[*time_];
    whole_time_ = part_of_time(trimmed(whole.text));
    for (const std::size_t part : time_parts_)
      (whole_time_ += ' ') += part_of_time(trimmed(row[part].text));
    whole.text = whole_time_;
    return whole;
  }

  [[noreturn]] void fail(const Column& column, const CsvField& field,
                         const std::string& what) const {
    const std::string name =
        names_.empty() ? std::to_string(column.index + 1) : excerpt(names_[column.index]);
    records_.fail(field.line, field.column, "column ", name, ": ", excerpt(field.text), " ", what,
                  dialect_note(dialect_, options_));
  }

  /// Returns the number of a cell, without its unit, which is that of the rows above.
  std::optional<double> number_of(Column& column, const CsvField& field) const {
    const std::string_view text = trimmed(field.text);
    const auto number = parse_number(text, dialect_);
    if (column.kind == Column::Kind::time || column.kind == Column::Kind::text) return number;
    const auto quantity =
        number ? std::optional(NumberWithUnit{*number}) : parse_quantity(text, dialect_);
    if (!quantity) return std::nullopt;
    if (!column.units.accept(*quantity))
      fail(column, field,
           "has another unit than the rows above; write all numbers of a column in one unit");
    return quantity->number;
  }

  double value_of(Column& column, const CsvField& field) {
    const std::string_view text = trimmed(field.text);
    if (is_missing_in(column, text)) {
      if (column.kind == Column::Kind::unknown && !column.missing) column.missing = field;
      return filled_in(column, field);
    }
    if (column.kind == Column::Kind::text) {
      if (dialect_.points_may_group && parse_number(text, dialect_)) column.points.see(field, text);
      return double(number_of_text(column, text));
    }
    const auto number = number_of(column, field);
    if (column.kind == Column::Kind::unknown)
      column.kind = number ? Column::Kind::number : Column::Kind::time;
    const auto value = column.kind == Column::Kind::number ? number : time_of(column, field);
    if (value && column.kind == Column::Kind::time && column.missing)
      fail(column, *column.missing, missing_time);
    if (value && column.kind == Column::Kind::number && is_rounded(text, *value, dialect_.decimal))
      fail(column, field, "has no exact double; store such numbers in two columns");
    if (value && column.kind == Column::Kind::number && dialect_.points_may_group)
      column.points.see(field,
                        parse_number(text, dialect_) ? std::string(text) : without_unit(text));
    if (value) return column.merged.see(text, *value, rows_), *value;
    const char group = dialect_.decimal == '.' ? ',' : '.';
    if (is_grouped(text, group)) fail(column, field, ambiguous_mark_message(group));
    if (may_be_columns(text, dialect_)) fail(column, field, spaced_number_message());
    if (has_decimal_comma(text)) fail(column, field, "has a decimal comma; write a point");
    if (column.kind == Column::Kind::number) fail(column, field, "is not a finite number");
    fail(column, field, no_time_message(text));
  }

  std::string no_time_message(std::string_view text) const {
    const std::vector<std::string> formats = possible_time_formats(text);
    if (!options_.time_format.empty()) return "is not a time in the given format";
    if (formats.empty())
      return parse_number(text, dialect_)
                 ? "is a number, not a date: set data.time_format (--time-format), such as %s for "
                   "seconds since 1970"
                 : "is neither a number nor a time such as 2016-07-01 00:00:00";
    return "may be a time as " + joined(formats, " or ") +
           ": choose one with data.time_format (--time-format)";
  }

  std::optional<double> time_of(Column& column, const CsvField& field) const {
    const std::string_view text = trimmed(field.text);
    constexpr double from_2040 = 2208988800;
    const auto stamp = parse_stamp(text, dialect_);
    if (!stamp) return std::nullopt;
    const bool has_century = dialect_.time_format.find("%y") == std::string::npos;
    if (!has_century && options_.time_format.empty() && stamp->seconds >= from_2040)
      fail(column, field,
           "has a year of two digits that may be of 1900 or of 2000: write four digits, or set "
           "data.time_format (--time-format), where %y is 1969 to 2068");
    column.offsets.push_back(stamp->offset.value_or(missing_value));
    return stamp->seconds;
  }

  bool is_missing_in(Column& column, std::string_view text) {
    if (column.kind != Column::Kind::text) return is_missing_number(text);
    return is_missing(text) && !is_name(column, text);
  }

  /// Returns whether NA is a name, such as a region's: if the column has another text that is not a
  /// number, or no numbers at all; outside label columns only if missing values are errors.
  bool is_name(Column& column, std::string_view text) {
    if (text.empty()) return false;
    if (!column.is_label && options_.missing != "refuse") return false;
    if (!column.has_names) column.has_names = has_names(column.index, column.is_label);
    return *column.has_names;
  }

  bool has_names(std::size_t column, bool without_numbers) const {
    CsvRecords records(text_, name_, dialect_.delimiter, dialect_.quote);
    std::vector<CsvField> row;
    bool is_header = !names_.empty(), numbers = false;
    while (records.next(row)) {
      if (row.size() <= column || (row.size() == 1 && width_ != 1)) continue;
      const std::string_view text = trimmed(row[column].text);
      const bool is_text = !is_header && !is_missing(text);
      if (is_text && !parse_number(text, dialect_)) return true;
      numbers |= is_text;
      is_header = false;
    }
    return without_numbers && !numbers;
  }

  /// Throws DataError if 1.043 next to 987 may be a thousand: no other number has a decimal point.
  void require_clear_points() const {
    const auto has_decimals = [](const Column& column) {
      return column.texts.empty() && column.points.are_decimals;
    };
    if (std::ranges::any_of(columns_, has_decimals)) return;
    const bool of_points = dialect_.time_format.starts_with("%d.%m.");
    const auto may_group = [&](const SeenPoints& points) {
      return dialect_.delimiter == ',' ? points.may_group_between_commas()
                                       : points.may_group(of_points);
    };
    for (const Column& column : columns_)
      if (column.texts.empty() && may_group(column.points))
        fail(column, *column.points.grouped, ambiguous_mark_message('.'));
  }

  static std::size_t number_of_text(Column& column, std::string_view text) {
    if (const auto found = column.numbers.find(text); found != column.numbers.end())
      return found->second;
    column.texts.emplace_back(text);
    return column.numbers.emplace(text, column.texts.size() - 1).first->second;
  }

  /// Converts text columns to numbers if all are, unless two texts could become one number.
  void read_numbers_of_texts() {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].is_label) continue;
      std::vector<double> numbers;
      for (const std::string& text : columns_[i].texts)
        if (const auto number = parse_number(text, dialect_);
            number && !is_rounded(text, *number, dialect_.decimal))
          numbers.push_back(*number);
      if (numbers.empty() || numbers.size() < columns_[i].texts.size()) continue;
      columns_[i].texts.clear();
      for (std::size_t at = i; at < values_.size(); at += columns_.size())
        if (!std::isnan(values_[at])) values_[at] = numbers[std::size_t(values_[at])];
    }
  }

  double filled_in(const Column& column, const CsvField& field) {
    if (column.kind == Column::Kind::time) fail(column, field, missing_time);
    const bool is_number = column.kind != Column::Kind::text;
    if (options_.missing == "refuse" && is_number && options_.keeps_missing_numbers)
      return missing_value;
    if (options_.missing == "refuse")
      fail(column, field, "is a missing value; " + options_.if_missing);
    if (options_.missing != "forward") return missing_value;
    if (rows_ == 0)
      fail(column, field, "is missing in the first row, so nothing can be carried forward");
    return values_[values_.size() - columns_.size()];
  }

  void fill_means(NamedArray& array) const {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (!fill_with_mean(array, i))
        throw DataError(name_, ": column ", columns_[i].index + 1,
                        " has no values, so it has no mean");
  }

  /// Returns the requested time column, else the first one in the file.
  std::optional<std::size_t> column_of_time() const {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].kind != Column::Kind::time) continue;
      if (columns_[i].index == time_) return i;
      if (!found || columns_[i].index < columns_[*found].index) found = i;
    }
    return found;
  }

  NamedArray result() const {
    NamedArray array{xt::xarray<double>::from_shape({rows_, columns_.size()}), {}};
    std::copy(values_.begin(), values_.end(), array.values.data());
    array.time = column_of_time();
    if (array.time) {
      const std::vector<double>& offsets = columns_[*array.time].offsets;
      array.time_format = dialect_.time_format;
      const bool all = std::ranges::none_of(offsets, [](double each) { return std::isnan(each); });
      if (all && std::ranges::count(offsets, 0.0) < std::ssize(offsets)) array.offsets = offsets;
      if (array.time_format == "%s" || array.time_format == "%Q") mark_numeric_time(array);
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      array.columns.push_back(names_.empty() ? std::to_string(columns_[i].index + 1)
                                             : names_[columns_[i].index]);
      if (columns_[i].kind == Column::Kind::time && i != array.time) array.more_times.push_back(i);
      if (!columns_[i].texts.empty()) array.texts[i] = columns_[i].texts;
      if (!columns_[i].merged.rows().empty()) array.merged[i] = columns_[i].merged.rows();
    }
    if (names_.empty() && are_in_place(columns_)) array.columns.clear();
    return array;
  }

  const std::string_view text_;
  const std::string& name_;
  const CsvOptions& options_;
  const CsvDialect dialect_;
  CsvRecords records_;
  std::vector<std::string> names_;
  std::vector<Column> columns_;
  std::optional<std::size_t> time_;      // requested column
  std::vector<std::size_t> time_parts_;  // further columns of the time
  std::string whole_time_;               // of the current row
  std::vector<double> values_;           // (rows, columns)
  std::size_t width_ = 0, rows_ = 0;
};

}  // namespace

std::vector<std::string> missing_policies() { return {"refuse", "nan", "forward", "mean"}; }

NamedArray parse_csv(std::string_view text, const std::string& name, const CsvOptions& options) {
  require_dialect(options);
  require_time_format(options.time_format);
  if (options.layout == "wide")
    return parse_csv(long_csv(text, name, options), name, long_csv_options(text, name, options));
  return CsvTable(text, name, options).read();
}

NamedArray read_csv(const std::filesystem::path& path, const CsvOptions& options) {
  const Input input(path);
  return parse_csv(input.text(), input.name(), options);
}

}  // namespace bochner
