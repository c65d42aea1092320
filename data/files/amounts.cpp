#include <bochner/data/files/amounts.hpp>
#include <charconv>

namespace bochner {
namespace {

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

std::string format_bytes(double bytes) { return with_prefix(bytes, " ", "B"); }

std::string format_count(double count) { return with_prefix(count, "", ""); }

std::string format_number_of(std::size_t count, const char* thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

}  // namespace bochner
