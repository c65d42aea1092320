#pragma once
#include <string_view>

namespace bochner {

/// Whether the bytes are characters of UTF-8, as far as their lengths tell.
inline bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    std::size_t more = lead < 0x80         ? 0
                       : (lead >> 5) == 6  ? 1
                       : (lead >> 4) == 14 ? 2
                       : (lead >> 3) == 30 ? 3
                                           : text.size();
    for (; more > 0; --more, ++i)
      if (i >= text.size() || (text[i] & 0xC0) != 0x80) return false;
  }
  return true;
}

}  // namespace bochner
