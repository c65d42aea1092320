#pragma once
/// Texts and numbers for people, in SVG and HTML and on a terminal; words for a shell.

#include <bochner/base/text.hpp>
#include <string>
#include <string_view>

namespace bochner {

/// The text with &, <, >, " and ' written as entities; control characters and bytes that are no
/// UTF-8 become U+FFFD, so that the result is well-formed inside XML.
std::string escaped(std::string_view text);
/// Characters of a UTF-8 text.
std::size_t character_count(std::string_view text);
/// The first of them, at most so many.
std::string first_characters(std::string_view text, std::size_t count);
/// A number for people: four significant digits, "12.3k" and "4.5M" above 10,000, "1.2e-05" below
/// 0.001, a true minus sign.
std::string short_number(double number);
/// A coordinate of SVG: one decimal at most.
std::string coordinate(double number);

/// "0:21", "1:02:03"
std::string format_duration(double seconds);
/// The text as one word of a shell command: in quotes where it needs them.
std::string shell_word(const std::string& text);

}  // namespace bochner
