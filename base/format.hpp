#pragma once
/// Formats texts and numbers for SVG, HTML, terminals and shells.

#include <bochner/base/text.hpp>

namespace bochner {

/// Escapes &, <, >, " and ' as XML entities; control characters and invalid UTF-8 become U+FFFD.
std::string escaped(std::string_view text);
std::size_t character_count(std::string_view text);
/// Returns the first `count` characters of a UTF-8 text, or all if it has fewer.
std::string first_characters(std::string_view text, std::size_t count);
/// Formats four significant digits: "12.3k" above 10,000, "1.2e-05" below 0.001, a minus sign.
std::string short_number(double number);
/// Formats an SVG coordinate with at most one decimal.
std::string coordinate(double number);

/// Formats seconds as "0:21" or "1:02:03".
std::string format_duration(double seconds);
/// Quotes a text for a shell if it needs quotes.
std::string shell_word(const std::string& text);

}  // namespace bochner
