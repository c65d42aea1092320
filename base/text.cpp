#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ranges>

namespace bochner {
namespace {

constexpr std::size_t longest_excerpt = 40;
constexpr char hexadecimal[] = "0123456789abcdef";

template <class Number>
std::optional<Number> parse_all(std::string_view text) {
  Number number;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || end != last) return std::nullopt;
  return number;
}

std::string with_prefix(double value, const char* space, const char* unit) {
  const char* prefixes[] = {"", "k", "M", "G", "T"};
  std::size_t index = 0;
  for (; value >= 1000 && index < 4; ++index) value /= 1000;
  const int digits = index == 0 || value >= 100 ? 0 : value < 10 ? 2 : 1;
  char text[400];
  const char* end =
      std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed, digits).ptr;
  return std::string(text, std::size_t(end - text)) + space + prefixes[index] + unit;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string lower_case(std::string_view text) {
  std::string small(text);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return small;
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto number = parse_all<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<std::size_t> parse_count(std::string_view text) {
  return parse_all<std::size_t>(text);
}

std::string format_number(double number) {
  if (std::isnan(number)) return "nan";  // without a sign
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), number).ptr};
}

std::string three_digits(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", number);
  return text;
}

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0, end = 0; end < list.size(); begin = end + 1) {
    end = std::min(list.find(',', begin), list.size());
    parts.emplace_back(list.substr(begin, end - begin));
  }
  return parts;
}

std::string_view take_line(std::string_view& text) {
  std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string printable(std::string_view text, char kept) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // Terminals also interpret U+0080 to U+009F, two bytes each.
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0xff);
    const bool two_bytes = byte == 0xc2 && next < 0xa0;
    const unsigned char code = two_bytes ? next : byte;
    if (two_bytes || ((byte < 0x20 || byte == 0x7f) && (kept == 0 || text[i] != kept))) {
      shown += {'\\', 'x', hexadecimal[code >> 4], hexadecimal[code & 15]};
    } else {
      shown += text[i];
    }
    i += two_bytes;
  }
  return shown;
}

std::string excerpt(std::string_view text) {
  const bool is_long = text.size() > longest_excerpt;
  if (is_long) {
    std::size_t size = longest_excerpt;
    while (size > 0 && continues_character(text[size])) --size;
    text = text.substr(0, size);
  }
  std::string quoted = "\"";
  quoted += printable(text);
  return quoted += is_long ? "...\"" : "\"";
}

std::string to_hex(std::string_view bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += {hexadecimal[byte / 16], hexadecimal[byte % 16]};
  return text;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
    if (error != std::errc() || end != text.data() + i + 2) return std::nullopt;
    bytes += char(value);
  }
  return bytes;
}

std::string format_bytes(double bytes) { return with_prefix(bytes, " ", "B"); }

std::string format_count(double count) { return with_prefix(count, "", ""); }

std::string format_number_of(std::size_t count, const char* thing) {
  return in_words(count, " ", thing, count == 1 ? "" : "s");
}

std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 5;
  const std::string few = joined(names | std::views::take(most));
  if (names.size() <= most) return few;
  return few + " and " + std::to_string(names.size() - most) + " more";
}

std::size_t utf8_size(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&](std::size_t i) { return continues_character(char(byte(i))); };
  if (text.empty()) return 0;
  if (byte(0) < 0x80) return 1;
  if (byte(0) >= 0xc2 && byte(0) < 0xe0) return follows(1) ? 2 : 0;
  if (byte(0) >= 0xe0 && byte(0) < 0xf0) {
    const bool overlong = byte(0) == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = byte(0) == 0xed && byte(1) >= 0xa0;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (byte(0) < 0xf0 || byte(0) > 0xf4) return 0;
  const bool outside = (byte(0) == 0xf0 && byte(1) < 0x90) || (byte(0) == 0xf4 && byte(1) > 0x8f);
  return follows(1) && follows(2) && follows(3) && !outside ? 4 : 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = utf8_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

bool matches(std::string_view pattern, std::string_view text) {
  // After a mismatch, only the latest star needs to take one more byte.
  std::size_t p = 0, t = 0, star = pattern.npos, resume = 0;
  while (t < text.size()) {
    const char wanted = p < pattern.size() ? pattern[p] : '\0';
    if (wanted == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (wanted == '?' || wanted == text[t])) {
      ++p, ++t;
      while (wanted == '?' && t < text.size() && continues_character(text[t])) ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

}  // namespace bochner
