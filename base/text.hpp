#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bochner {

/// Removes spaces and tabs at both ends.
std::string_view trimmed(std::string_view text);
std::string lower_case(std::string_view text);
/// Parses the whole text as a finite number in any locale; accepts a leading plus sign.
std::optional<double> parse_number(std::string_view text);
/// Parses the whole text as decimal digits.
std::optional<std::size_t> parse_count(std::string_view text);
/// Returns the shortest text that parse_number reads as the same number; "nan" and "inf" too.
std::string format_number(double number);
/// Formats three significant digits, as printf does with %.3g.
std::string three_digits(double number);
/// Splits at commas and keeps empty parts; an empty list has no parts.
std::vector<std::string> split_list(std::string_view list);
/// Removes the next line from the text and returns it without its LF or CR LF.
std::string_view take_line(std::string_view& text);
/// Escapes control characters as "\x1b" for a terminal, except `kept`, such as a line end.
std::string printable(std::string_view text, char kept = 0);
/// Quotes and shortens a text for a one-line message, escaped by printable().
std::string excerpt(std::string_view text);

/// Formats names as "a, b, c, d, e and 4 more".
std::string some_of(const std::vector<std::string>& names);

/// Writes two hexadecimal digits for each byte.
std::string to_hex(std::string_view bytes);
/// Reads them back; returns nothing for another text.
std::optional<std::string> from_hex(std::string_view text);

/// Formats bytes as "9.1 MB".
std::string format_bytes(double bytes);
/// Formats counts as "8.20M", "148k" or "12".
std::string format_count(double count);
/// Formats counts of things as "1 file" or "12 files".
std::string format_number_of(std::size_t count, const char* thing);

/// Whether a text is valid UTF-8 (RFC 3629): no overlong forms, no surrogates.
bool is_utf8(std::string_view text);
/// Whether a byte of UTF-8 continues a character.
inline bool continues_character(char byte) { return (byte & 0xc0) == 0x80; }
/// Returns the bytes of the first character of a text; 0 if it is not valid UTF-8.
std::size_t utf8_size(std::string_view text);

/// Whether the pattern matches the whole text: `*` any characters, `?` one character of UTF-8.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace bochner
