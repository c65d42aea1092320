#pragma once
#include <cstddef>
#include <string_view>

namespace bochner {

/// Whether a text is valid UTF-8 (RFC 3629): no overlong forms, no surrogates.
bool is_utf8(std::string_view text);
/// Returns the bytes of the first character of a text; 0 if it is not valid UTF-8.
std::size_t utf8_size(std::string_view text);

}  // namespace bochner
