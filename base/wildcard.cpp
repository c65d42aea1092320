#include <bochner/base/wildcard.hpp>

namespace bochner {
namespace {

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u; }

}  // namespace

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
