#pragma once
/// Small pieces of text: what readers have in common, and numbers for people.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bochner {

/// Without spaces and tabs at both ends.
std::string_view trimmed(std::string_view text);
/// With small letters for the capital ones of ASCII.
std::string lower_case(std::string_view text);
/// The whole text as a finite number, whatever the locale; a plus sign may stand in front.
std::optional<double> parse_number(std::string_view text);
/// The whole text as a number of decimal digits.
std::optional<std::size_t> parse_count(std::string_view text);
/// The shortest text that parse_number reads as the same number; "nan" and "inf" too.
std::string format_number(double number);
/// The parts between commas, empty ones too; of an empty list there are none.
std::vector<std::string> split_list(std::string_view list);
/// Takes the next line off a text: without its end, which is LF or CR LF.
std::string_view take_line(std::string_view& text);
/// Fit for a terminal, whatever it came from: control characters as "\x1b", but for one that may be
/// kept, such as a line end.
std::string printable(std::string_view text, char kept = 0);
/// In quotes for a message of one line: shortened, and printable.
std::string excerpt(std::string_view text);

/// "a, b, c, d, e and 4 more"
std::string some_of(const std::vector<std::string>& names);

/// Two hexadecimal digits for each byte, and back; nothing for a text that is not of such.
std::string to_hex(std::string_view bytes);
std::optional<std::string> from_hex(std::string_view text);

/// "9.1 MB"
std::string format_bytes(double bytes);
/// "8.20M"; "148k"; "12"
std::string format_count(double count);
/// "1 file"; "12 files"
std::string format_number_of(std::size_t count, const char* thing);

}  // namespace bochner
