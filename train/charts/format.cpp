#include <fmt/format.h>

#include <bochner/train/charts/format.hpp>
#include <cmath>

namespace bochner {
namespace {

std::string with_prefix(double value, const char* space, const char* unit) {
  const char* prefixes[] = {"", "k", "M", "G", "T"};
  std::size_t index = 0;
  for (; value >= 1000 && index < 4; ++index) value /= 1000;
  if (index == 0) return fmt::format("{:.0f}{}{}", value, space, unit);
  return fmt::format("{:.{}f}{}{}{}", value,
                     value < 10    ? 2
                     : value < 100 ? 1
                                   : 0,
                     space, prefixes[index], unit);
}

}  // namespace

std::string format_bytes(double bytes) { return with_prefix(bytes, " ", "B"); }

std::string format_count(double count) { return with_prefix(count, "", ""); }

std::string format_number_of(std::size_t count, const char* thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
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
