#pragma once
/// Small pieces of text that readers have in common.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bochner {

/// Without spaces and tabs at both ends.
std::string_view trimmed(std::string_view text);
/// The whole text as a finite number, whatever the locale; a plus sign may stand in front.
std::optional<double> parse_number(std::string_view text);
/// The whole text as a number of decimal digits.
std::optional<std::size_t> parse_count(std::string_view text);
/// The shortest text that parse_number reads as the same number; "nan" and "inf" too.
std::string format_number(double number);
/// The parts between commas, empty ones too; of an empty list there are none.
std::vector<std::string> split_list(std::string_view list);
/// In quotes for a message of one line: shortened, and control characters as "\x0a".
std::string excerpt(std::string_view text);

}  // namespace bochner
