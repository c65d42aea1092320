#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/csv_dialect.hpp>
#include <bochner/data/formats/csv_numbers.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <cmath>
#include <cstdio>

namespace bochner {

bool has_decimal_comma(std::string_view text) {
  std::string number;
  for (const char character : text)
    if (character != '.') number += character == ',' ? '.' : character;
  return text.find(',') != text.npos && parse_number(number);
}

bool is_rounded(std::string_view text, double number, char decimal) {
  constexpr double exact = 9007199254740992;
  if (std::abs(number) < exact || text.find(decimal) != text.npos) return false;
  if (text.find_first_not_of("+-.,0123456789") != text.npos) return false;
  std::string digits;
  for (const char character : text)
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
  } else if (text.find_first_of(".eE") != text.npos) {
    are_decimals = true;
  } else {
    const auto digits = std::ranges::count_if(text, [](char c) { return c >= '0' && c <= '9'; });
    (digits <= 3 ? has_short : has_long) = true;
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
  const bool is_time = array.time == column || std::ranges::count(array.more_times, column) > 0;
  const std::size_t width = array.values.dimension() == 1 ? 1 : array.values.shape(1);
  for (std::size_t row = 0; is_time && row < array.values.shape(0); ++row) {
    const double offset =
        array.time == column && row < array.offsets.size() ? array.offsets[row] : 0;
    const double time = array.values.data()[row * width + column] + offset;
    if (std::isfinite(time) && !has_date(time)) return false;
  }
  return is_time;
}

}  // namespace bochner
