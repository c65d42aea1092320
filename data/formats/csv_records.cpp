#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/data/formats/csv_numbers.hpp>
#include <bochner/data/formats/csv_records.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <cmath>
#include <cstdio>

namespace bochner {

CsvRecords::CsvRecords(std::string_view text, const std::string& name, char delimiter, char quote)
    : rest_(text), name_(name), delimiter_(delimiter), quote_(quote), line_end_('\n') {
  if (rest_.find('\n') == rest_.npos && rest_.find('\r') != rest_.npos) line_end_ = '\r';
  if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
  skip_comments();
}

void CsvRecords::skip_comments() {
  while (rest_.starts_with('#') || rest_.starts_with("sep=")) {
    const std::string_view line = rest_.substr(0, rest_.find(line_end_));
    const std::string_view next = rest_.substr(std::min(line.size() + 1, rest_.size()));
    if (is_header(line, next.substr(0, next.find(line_end_)))) {
      if (line[1] != delimiter_ || delimiter_ == ' ') take(1);
      return;
    }
    take(std::min(line.size() + 1, rest_.size()));
  }
}

/// Returns whether a line after # has as many fields as the next one, which begins with a number.
bool CsvRecords::is_header(std::string_view line, std::string_view next) const {
  const auto fields = [&](std::string_view text) {
    std::size_t count = 1;
    text = trimmed(text);
    for (std::size_t i = 0; i < text.size(); ++i)
      count += text[i] == delimiter_ && (delimiter_ != ' ' || text[i - 1] != ' ');
    return count;
  };
  if (!line.starts_with('#') || next.empty()) return false;
  const bool is_number = std::string_view("0123456789+-.\"").find(next[0]) != next.npos;
  return is_number && fields(next) > 1 && fields(line.substr(1)) == fields(next);
}

void CsvRecords::skip_blanks() {
  if (delimiter_ == ' ') take(std::min(rest_.find_first_not_of(' '), rest_.size()));
}

bool CsvRecords::next(std::vector<CsvField>& fields) {
  fields.clear();
  unescaped_.clear();
  skip_blanks();
  if (rest_.empty()) return false;
  fields.push_back(field());
  while (rest_.starts_with(delimiter_)) {
    if (fields.size() == most_csv_fields)
      fail(line_, column_, "has more than ", most_csv_fields, " fields");
    take(1);
    skip_blanks();
    if (delimiter_ == ' ' && (rest_.empty() || line_end_size() > 0)) break;
    fields.push_back(field());
  }
  take(rest_ == "\r" ? 1 : line_end_size());
  return true;
}

CsvField CsvRecords::field() {
  CsvField field{{}, line_, column_};
  if (sees_quote()) {
    quoted_text(field);
    if (!rest_.empty() && rest_.front() != delimiter_ && line_end_size() == 0)
      fail(line_, column_, "expected a delimiter or the end of the line after the closing quote");
    return field;
  }
  std::size_t size = 0;
  for (; size < rest_.size(); ++size) {
    const char character = rest_[size];
    if (character == delimiter_ || character == line_end_) break;
    if (character == '"' && quote_ == '"')
      fail(line_, column_ + size, "a quote inside a field; put the whole field in quotes");
  }
  const bool before_line_end = size == rest_.size() || rest_[size] == line_end_;
  if (before_line_end && size > 0 && rest_[size - 1] == '\r') --size;
  field.text = rest_.substr(0, size);
  take(size);
  return field;
}

void CsvRecords::quoted_text(CsvField& field) {
  std::size_t end = rest_.find(quote_, 1);
  bool doubled = false;
  for (; end != rest_.npos && rest_.substr(end + 1).starts_with(quote_);
       end = rest_.find(quote_, end + 2))
    doubled = true;
  if (end == rest_.npos) fail(field.line, field.column, "this quote is not closed");
  field.text = rest_.substr(1, end - 1);
  take(end + 1);
  if (!doubled) return;
  std::string& text = unescaped_.emplace_back();
  for (std::size_t i = 0; i < field.text.size(); ++i) {
    text += field.text[i];
    if (field.text[i] == quote_) ++i;
  }
  field.text = text;
}

void CsvRecords::take(std::size_t bytes) {
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(taken.size());
  const std::size_t last = taken.rfind(line_end_);
  line_ += std::size_t(std::count(taken.begin(), taken.end(), line_end_));
  column_ = last == taken.npos ? column_ + taken.size() : taken.size() - last;
}

bool has_decimal_comma(std::string_view text) {
  std::string number;
  for (const char character : text)
    if (character != '.') number += character == ',' ? '.' : character;
  return text.find(',') != text.npos && parse_number(number);
}

bool is_rounded(std::string_view text, double number, char decimal) {
  constexpr double exact = 9007199254740992;
  if (std::abs(number) < exact || text.find(decimal) != text.npos) return false;
  const std::string plain = ungrouped(text);
  if (plain.find_first_not_of("+-.,0123456789") != text.npos) return false;
  std::string digits;
  for (const char character : plain)
    if (character >= '0' && character <= '9' && !(character == '0' && digits.empty()))
      digits += character;
  char written[512];
  std::snprintf(written, sizeof(written), "%.0f", std::abs(number));
  return digits != written;
}

std::string ambiguous_mark_message(char mark) {
  return std::string("may have a decimal ") + (mark == ',' ? "comma" : "point") +
         ", or one between thousands: set data.decimal (--decimal)";
}

void SeenPoints::see(const CsvField& field, std::string_view text) {
  if (is_grouped(text, '.')) {
    if (!grouped) grouped = field;
    ++groups;
  } else if (text.find_first_of(".eE") != text.npos) {
    are_decimals = true;
  } else {
    const auto digits = std::ranges::count_if(text, [](char c) { return c >= '0' && c <= '9'; });
    (digits <= 3 ? has_short : has_long) = true;
    hundreds += digits == 3;
  }
}

namespace {

/// Returns the digits after the last point or comma, without trailing zeros; "" for 1.5e3.
std::string_view decimals_of(std::string_view text) {
  const std::size_t mark = text.find_last_of(".,");
  if (mark == text.npos || text.find_first_of("eE") != text.npos) return "";
  const std::string_view tail = text.substr(mark + 1);
  const std::string_view digits = tail.substr(0, tail.find_first_not_of("0123456789"));
  return digits.substr(0, digits.find_last_not_of('0') + 1);
}

bool is_time_column(const NamedArray& array, std::size_t column) {
  return array.time == column || std::ranges::count(array.more_times, column) > 0;
}

}  // namespace

void MergedRows::see(std::string_view text, double number, std::size_t row) {
  constexpr std::size_t exact = 16;  // characters, which a double holds exactly
  if (text.size() <= exact) {
    number_ = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  const std::string_view decimals = decimals_of(text);
  if (number == number_ && decimals != decimals_) rows_.push_back(row);
  decimals_ = decimals, number_ = number;
}

bool is_column_of_dates(const NamedArray& array, std::size_t column) {
  const bool is_time = !array.numeric_time && is_time_column(array, column);
  const std::size_t width = array.values.dimension() == 1 ? 1 : array.values.shape(1);
  for (std::size_t row = 0; is_time && row < array.values.shape(0); ++row) {
    const double offset =
        array.time == column && row < array.offsets.size() ? array.offsets[row] : 0;
    const double time = array.values.data()[row * width + column] + offset;
    if (std::isfinite(time) && !has_date(time)) return false;
  }
  return is_time;
}

std::string number_text(const NamedArray& array, std::size_t column, double number) {
  if (!array.numeric_time || !is_time_column(array, column)) return format_number(number);
  return format_numeric_time(array.time_format == "%Q" ? std::round(1e6 * number) / 1e3 : number);
}

}  // namespace bochner
