#include <algorithm>
#include <bochner/data/files/text.hpp>
#include <bochner/data/formats/csv_dialect.hpp>
#include <bochner/data/formats/csv_numbers.hpp>
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

std::string words_of_either(char mark) {
  return std::string("may have a decimal ") + (mark == ',' ? "comma" : "point") +
         ", or one between thousands: say what stands before decimals by data.decimal (--decimal)";
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

}  // namespace bochner
