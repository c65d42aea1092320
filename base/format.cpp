#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/format.hpp>
#include <cmath>
#include <utility>

namespace bochner {
namespace {

/// Returns the length of the first character of `text`, 0 if XML does not allow it.
std::size_t valid_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const bool control = (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f;
  const bool none = text.starts_with("\xef\xbf\xbe") || text.starts_with("\xef\xbf\xbf");
  return control || none ? 0 : utf8_size(text);
}

std::string_view entity(char c) {
  constexpr std::pair<char, std::string_view> entities[] = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  for (const auto& [special, written] : entities)
    if (c == special) return written;
  return "";
}

std::string without_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = valid_length(text);
    const std::string_view special = entity(text.front());
    result += length == 0 ? "\xef\xbf\xbd" : special.empty() ? text.substr(0, length) : special;
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return result;
}

std::size_t character_count(std::string_view text) {
  return text.size() - std::size_t(std::ranges::count_if(text, continues_character));
}

std::string first_characters(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  for (; end < text.size(); ++end)
    if (!continues_character(text[end]) && count-- == 0) break;
  return std::string(text.substr(0, end));
}

std::string short_number(double number) {
  if (std::isnan(number)) return "–";
  const std::string sign = number < 0 ? "−" : "";
  const double size = std::fabs(number);
  if (std::isinf(size)) return sign + "∞";
  if (size == 0) return "0";
  if (size < 1e-3 || size >= 1e12) return sign + fmt::format("{:.1e}", size);
  const char* suffixes[] = {"", "k", "M", "G"};
  std::size_t index = 0;
  double scaled = size;
  if (size >= 1e4)
    for (; scaled >= 1000 && index < 3; ++index) scaled /= 1000;
  const int digits = std::max(0, (index > 0 ? 2 : 3) - int(std::floor(std::log10(scaled))));
  return sign + without_zeros(fmt::format("{:.{}f}", scaled, digits)) + suffixes[index];
}

std::string coordinate(double number) {
  const std::string text = without_zeros(fmt::format("{:.1f}", number));
  return text == "-0" ? "0" : text;
}

std::string format_duration(double seconds) {
  const auto whole = std::uint64_t(std::max(0.0, std::ceil(seconds)));
  const std::uint64_t hours = whole / 3600, minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string shell_word(const std::string& text) {
  constexpr const char* plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace bochner
