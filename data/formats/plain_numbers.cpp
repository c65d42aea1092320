#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/csv_numbers.hpp>
#include <bochner/data/formats/plain_numbers.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::string_view currencies[] = {"EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "SEK",
                                           "NOK", "DKK", "PLN", "CZK", "HUF", "RUB", "TRY", "BRL",
                                           "AUD", "CAD", "NZD", "ZAR", "KRW", "SGD", "HKD", "MXN",
                                           "Rs.", "Rs",  "kr.", "kr",  "Fr."};

struct Multiple {
  std::string_view unit;
  double factor;
};
constexpr Multiple multiples[] = {{"k", 1e3},    {"K", 1e3},    {"M", 1e6},  {"Mio", 1e6},
                                  {"Mio.", 1e6}, {"mn", 1e6},   {"B", 1e9},  {"bn", 1e9},
                                  {"Mrd", 1e9},  {"Mrd.", 1e9}, {"T", 1e12}, {"G", 1e9}};

bool is_any_number(std::string_view text) {
  return parse_number(text, '.') || parse_number(text, ',');
}

/// Returns a text without symbols and separators that no number needs.
std::string without_symbols(std::string_view text) {
  std::string plain(text);
  const auto replace = [&](std::string_view part, std::string_view by) {
    for (std::size_t at; (at = plain.find(part)) != plain.npos;) plain.replace(at, part.size(), by);
  };
  for (const char* mark : {"%", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "'", "’", "\u202f",
                           "\u00a0", "\u2009", "\x80"})
    replace(mark, "");
  replace("\u2212", "-");
  return std::string(trimmed(plain));
}

/// Parts of a text such as "256.6 kWh"; both are empty for other texts.
struct Quantity {
  std::string number = {}, unit = {};
};

bool is_unit(std::string_view text) {
  const auto may_begin = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
  const bool begins = !text.empty() && (may_begin(text[0]) || (text[0] & 0x80));
  return begins && std::ranges::none_of(text, [](char c) {
           return (c >= '0' && c <= '9' && c != '2' && c != '3') || c == '-' || c == ':' ||
                  c == ',';
         });
}

Quantity quantity_of(std::string_view text) {
  constexpr std::size_t longest_unit = 10;
  const std::string plain = without_symbols(text);
  const std::string_view all = plain;
  for (const std::string_view currency : currencies)
    if (all.starts_with(currency))
      if (const auto rest = trimmed(all.substr(currency.size())); is_any_number(rest))
        return {std::string(rest), std::string(currency)};
  for (std::size_t size = 1; size <= std::min(longest_unit + 1, all.size()); ++size) {
    const auto number = trimmed(all.substr(0, all.size() - size)),
               unit = trimmed(all.substr(all.size() - size));
    if (is_unit(unit) && is_any_number(number)) return {std::string(number), std::string(unit)};
  }
  return {};
}

/// Returns a number multiplied by its unit, if that is a multiple.
std::string multiplied(const Quantity& quantity) {
  const auto* multiple = std::ranges::find(multiples, quantity.unit, &Multiple::unit);
  if (multiple == std::end(multiples)) return quantity.number;
  const auto with_point = parse_number(quantity.number, '.');
  const double number = with_point ? *with_point : *parse_number(quantity.number, ',');
  return format_number(std::round(number * multiple->factor * 1e6) / 1e6);
}

}  // namespace

std::string plain_number(std::string_view text) {
  const bool in_brackets = text.starts_with('(') && text.ends_with(')');
  if (in_brackets) return "-" + plain_number(text.substr(1, text.size() - 2));
  const std::string plain = without_symbols(text);
  if (plain.size() > 1 && plain.ends_with('-'))
    if (const std::string number = plain.substr(0, plain.size() - 1); is_any_number(number))
      return "-" + number;
  const Quantity quantity = quantity_of(text);
  return quantity.unit.empty() ? plain : multiplied(quantity);
}

bool is_formatted_number(const std::string& text) {
  const std::string plain = plain_number(text);
  return plain != text && is_any_number(plain) && unit_of(text).empty();
}

std::string unit_of(std::string_view text) { return quantity_of(text).unit; }

bool is_multiple(std::string_view unit) {
  return std::ranges::find(multiples, unit, &Multiple::unit) != std::end(multiples);
}

}  // namespace bochner
