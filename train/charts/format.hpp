#pragma once
/// Numbers for people, words for a shell.

#include <cstddef>
#include <cstdint>
#include <string>

namespace bochner {

/// "9.1 MB"
std::string format_bytes(double bytes);
/// "8.20M"; "148k"; "12"
std::string format_count(double count);
/// "1 file"; "12 files"
std::string format_number_of(std::size_t count, const char* thing);
/// "0:21", "1:02:03"
std::string format_duration(double seconds);
/// The text as one word of a shell command: in quotes where it needs them.
std::string shell_word(const std::string& text);

}  // namespace bochner
