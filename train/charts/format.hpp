#pragma once
/// Times for people, words for a shell.

#include <bochner/data/files/text.hpp>

namespace bochner {

/// "0:21", "1:02:03"
std::string format_duration(double seconds);
/// The text as one word of a shell command: in quotes where it needs them.
std::string shell_word(const std::string& text);

}  // namespace bochner
