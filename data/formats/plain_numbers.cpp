#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/csv_numbers.hpp>
#include <bochner/data/formats/date_formats.hpp>
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

constexpr std::string_view symbols[] = {"%", "$", "€", "£", "¥", "₹", "₽", "₩", "₺"};

/// Replaces marks that no number needs, and the minus sign of typography.
std::string without_marks(std::string_view text) {
  std::string plain(text);
  const auto replace = [&](std::string_view part, std::string_view by) {
    for (std::size_t at; (at = plain.find(part)) != plain.npos;)
      plain = plain.substr(0, at) + std::string(by) + plain.substr(at + part.size());
  };
  for (const char* mark : {"'", "’"}) replace(mark, "");
  for (const char* space : {"\u202f", "\u00a0", "\u2009"}) replace(space, " ");
  replace("\u2212", "-");
  return std::string(trimmed(plain));
}

bool is_unit(std::string_view text) {
  const auto may_begin = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
  const std::string lower = lower_case(text);
  const bool begins =
      !text.empty() && (may_begin(text[0]) || (text[0] & 0x80)) && lower != "am" && lower != "pm";
  return begins && std::ranges::none_of(text, [](char c) {
           return (c >= '0' && c <= '9' && c != '2' && c != '3') || c == '-' || c == ':' ||
                  c == ',';
         });
}

/// A number in its own decimal mark, "" for other texts, and its unit.
struct Parts {
  std::string number = {}, unit = {};
};

/// Returns the parts of "EUR 12", "-$12", "12 kWh" and "12 %", or of a plain number.
Parts parts_of(std::string_view all) {
  constexpr std::size_t longest_unit = 10;
  if (is_any_number(all)) return {std::string(all), ""};
  const auto leading = [&](std::string_view unit) -> Parts {
    std::string rest(trimmed(all));
    const bool is_negative = rest.starts_with('-');
    if (is_negative) rest = trimmed(std::string_view(rest).substr(1));
    if (!rest.starts_with(unit)) return {};
    rest = trimmed(std::string_view(rest).substr(unit.size()));
    if (is_negative) rest.insert(0, "-");
    return is_any_number(rest) ? Parts{rest, std::string(unit)} : Parts();
  };
  for (const std::string_view symbol : symbols) {
    if (const Parts parts = leading(symbol); !parts.number.empty()) return parts;
    if (!all.ends_with(symbol)) continue;
    const auto number = trimmed(all.substr(0, all.size() - symbol.size()));
    return is_any_number(number) ? Parts{std::string(number), std::string(symbol)} : Parts();
  }
  for (const std::string_view currency : currencies)
    if (const Parts parts = leading(currency); !parts.number.empty()) return parts;
  for (std::size_t size = 1; size <= std::min(longest_unit + 1, all.size()); ++size) {
    const auto number = trimmed(all.substr(0, all.size() - size)),
               unit = trimmed(all.substr(all.size() - size));
    const bool ends_with_digit = !number.empty() && number.back() >= '0' && number.back() <= '9';
    if (ends_with_digit && is_unit(unit) && is_any_number(number))
      return {std::string(number), std::string(unit)};
  }
  return {};
}

/// Returns the parts of a number that may have brackets or a sign after it.
Parts parts_of_signed(std::string_view text) {
  const std::string plain = without_marks(text);
  const std::string_view all = plain;
  const bool in_brackets = all.size() > 2 && all.starts_with('(') && all.ends_with(')');
  const bool is_after = all.size() > 1 && all.ends_with('-');
  if (!in_brackets && !is_after) return parts_of(all);
  Parts parts = parts_of(trimmed(all.substr(in_brackets, all.size() - 1 - in_brackets)));
  if (parts.number.empty() || parts.number.starts_with('-')) return {};
  parts.number.insert(0, "-");
  return parts;
}

}  // namespace

std::optional<NumberWithUnit> parse_quantity(std::string_view text, const CsvDialect& dialect) {
  const Parts parts = parts_of_signed(text);
  if (parts.number.empty() || !possible_time_formats(text).empty()) return std::nullopt;
  const auto number = parse_number(parts.number, dialect);
  if (!number) return std::nullopt;
  const auto* multiple = std::ranges::find(multiples, parts.unit, &Multiple::unit);
  if (multiple == std::end(multiples)) return NumberWithUnit{*number, parts.unit};
  return NumberWithUnit{std::round(*number * multiple->factor * 1e6) / 1e6, parts.unit};
}

std::string without_unit(std::string_view text) {
  const std::string number = parts_of_signed(text).number;
  return number.empty() || !possible_time_formats(text).empty() ? std::string(text) : number;
}

std::string unit_of(std::string_view text) { return parts_of_signed(text).unit; }

bool is_multiple(std::string_view unit) {
  return std::ranges::find(multiples, unit, &Multiple::unit) != std::end(multiples);
}

bool ColumnUnits::accept(const NumberWithUnit& quantity) {
  const std::string unit = is_multiple(quantity.unit) ? "" : quantity.unit;
  if (unit.empty()) {
    has_plain_ |= quantity.number != 0;
    return unit_.empty() || quantity.number == 0;
  }
  if (unit_.empty() && !has_plain_) unit_ = unit;
  return unit_ == unit;
}

}  // namespace bochner
