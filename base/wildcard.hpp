#pragma once

#include <string_view>

namespace bochner {

/// Whether the pattern matches the whole text: `*` any characters, `?` one character of UTF-8.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace bochner
