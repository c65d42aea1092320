#include <bochner/autodiff/wildcard.hpp>

namespace bochner {
namespace {

/// Bytes of the UTF-8 character at the front; 1 where the bytes are none.
std::size_t character_size(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0u) == 0x80u) ++size;
  return size;
}

}  // namespace

/// Greedy, with one place to come back to: the last star and the text it has swallowed so far.
bool matches(std::string_view pattern, std::string_view text) {
  std::string_view after_star, swallowed_to;
  bool star = false;
  while (!text.empty()) {
    if (!pattern.empty() && pattern.front() == '*') {
      pattern.remove_prefix(1);
      star = true;
      after_star = pattern;
      swallowed_to = text;
    } else if (!pattern.empty() && (pattern.front() == '?' || pattern.front() == text.front())) {
      text.remove_prefix(pattern.front() == '?' ? character_size(text) : 1);
      pattern.remove_prefix(1);
    } else if (star) {
      swallowed_to.remove_prefix(1);
      text = swallowed_to;
      pattern = after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*') == pattern.npos;
}

}  // namespace bochner
