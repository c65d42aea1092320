#pragma once
/// Numbers for people.

#include <cstddef>
#include <string>

namespace bochner {

/// "9.1 MB"
std::string format_bytes(double bytes);
/// "8.20M"; "148k"; "12"
std::string format_count(double count);
/// "1 file"; "12 files"
std::string format_number_of(std::size_t count, const char* thing);

}  // namespace bochner
