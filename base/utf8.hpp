#pragma once
#include <cstddef>
#include <string_view>

namespace bochner {

/// Whether a text is UTF-8 (RFC 3629): no overlong forms, no surrogates.
bool is_utf8(std::string_view text);
/// Bytes of the character at the front of a text; 0 where it is no UTF-8.
std::size_t utf8_size(std::string_view text);

}  // namespace bochner
