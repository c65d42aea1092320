#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/csv_numbers.hpp>
#include <vector>

namespace bochner {
namespace {

/// Marks between thousands that are never decimal marks: space, no-break space (also of Latin-1),
/// figure space, thin space, narrow no-break space, underscore.
constexpr std::string_view group_marks[] = {" ",      "\u00a0", "\u2007", "\u2009",
                                            "\u202f", "\xa0",   "_"};

bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits_at(std::string_view text, std::size_t begin) {
  const auto rest = text.substr(begin);
  return std::size_t(std::ranges::find_if_not(rest, is_decimal_digit) - rest.begin());
}

std::string_view group_mark_at(std::string_view text, std::size_t begin) {
  for (const std::string_view mark : group_marks)
    if (text.substr(begin).starts_with(mark)) return mark;
  return "";
}

std::size_t sign_size(std::string_view text) {
  return text.starts_with('-') || text.starts_with('+') ? 1 : 0;
}

/// Returns whether commas separate Indian groups: two digits each, then three: 2,70,932.
bool has_indian_groups(std::string_view text) {
  std::size_t at = sign_size(text);
  std::vector<std::size_t> sizes = {digits_at(text, at)};
  if (at == text.size() || text[at] == '0') return false;
  for (at += sizes[0]; at < text.size() && text[at] == ','; at += 1 + sizes.back())
    sizes.push_back(digits_at(text, at + 1));
  if (at < text.size() || sizes.size() < 3 || sizes.back() != 3) return false;
  sizes.pop_back();
  return (sizes[0] == 1 || sizes[0] == 2) &&
         std::all_of(sizes.begin() + 1, sizes.end(), [](std::size_t size) { return size == 2; });
}

}  // namespace

std::string ungrouped(std::string_view text) {
  std::size_t at = sign_size(text);
  const std::size_t first = digits_at(text, at);
  std::string digits(text.substr(0, at + first));
  at += first;
  const std::string_view mark = group_mark_at(text, at);
  if (mark.empty() || first == 0 || first > 3 || digits[at - first] == '0')
    return std::string(text);
  while (text.substr(at).starts_with(mark)) {
    at += mark.size();
    if (digits_at(text, at) != 3) return std::string(text);
    digits += text.substr(at, 3);
    at += 3;
  }
  const bool is_end = at == text.size() || text[at] == '.' || text[at] == ',';
  return is_end ? digits + std::string(text.substr(at)) : std::string(text);
}

bool is_missing(std::string_view text) {
  constexpr std::string_view words[] = {"", "NA", "N/A", "nan", "NaN", "NAN", "null", "NULL"};
  return std::ranges::find(words, text) != std::end(words);
}

bool is_missing_number(std::string_view text) {
  constexpr std::string_view words[] = {
      "",    "#n/a", "#n/a n/a", "#na",  "-1.#ind", "-1.#qnan", "-nan", "1.#ind", "1.#qnan", "<na>",
      "n/a", "na",   "nan",      "none", "null",    "missing",  "-",    "?",      ".",       "nat"};
  constexpr std::size_t longest = 8;
  if (text.size() > longest || (!text.empty() && is_decimal_digit(text.back()))) return false;
  return std::ranges::find(words, lower_case(text)) != std::end(words);
}

bool is_grouped(std::string_view text, char group) {
  text.remove_prefix(sign_size(text));
  const std::size_t first = text.find(group);
  if (first == text.npos || first == 0 || first > 3 || text[0] == '0') return false;
  for (std::size_t i = first; i < text.size(); i += 4)
    if (text[i] != group || text.size() - i < 4 ||
        !std::ranges::all_of(text.substr(i + 1, 3), is_decimal_digit))
      return false;
  return true;
}

std::optional<double> parse_number(std::string_view text, char decimal) {
  if (text.find_first_of(" _\xa0\xe2") != text.npos)
    if (const std::string plain = ungrouped(text); plain != text)
      return parse_number(plain, decimal);
  const char group = decimal == '.' ? ',' : '.';
  if (decimal == '.' && text.find(group) == text.npos) return parse_number(text);
  std::string with_point(text);
  if (text.find(group) != text.npos) {
    const std::size_t end = std::min(text.find(decimal), text.size());
    const std::string_view whole = text.substr(0, end);
    const bool is_indian = group == ',' && has_indian_groups(whole);
    const bool in_decimals = text.find(group, end) != text.npos;
    const bool is_clear =
        !in_decimals && (end < text.size() || std::ranges::count(text, group) > 1);
    if (!is_clear || !(is_grouped(whole, group) || is_indian)) return std::nullopt;
    std::erase(with_point, group);
  }
  if (const std::size_t at = with_point.find(decimal); at != text.npos) with_point[at] = '.';
  return parse_number(with_point);
}

}  // namespace bochner
