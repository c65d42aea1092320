#pragma once
/// Numbers in the fields of tables: decimal marks, marks between thousands, missing values.

#include <optional>
#include <string>
#include <string_view>

namespace bochner {

/// Parses a number with this decimal mark, a point or a comma; the other one may separate thousands
/// if it cannot be a decimal mark: 1.234,5 and 1.234.567, also Indian groups: 2,70,932. Groups of
/// three digits may have a space or an underscore between them; see ungrouped().
std::optional<double> parse_number(std::string_view text, char decimal);
/// Returns whether `group` may separate thousands: 1,234 and 1,234,567.
bool is_grouped(std::string_view text, char group);
/// Returns a number without spaces (of any width) or underscores between all of its groups of three
/// digits, "2 566.5" as "2566.5"; another text as it is.
std::string ungrouped(std::string_view text);

/// Returns whether the text is a missing value in any column: empty, NA, N/A, nan, null.
bool is_missing(std::string_view text);
/// Returns whether the text is a missing value in a column of numbers or times: also None, #N/A,
/// missing, "-", "?", ".", and the other default NA values of pandas, in any case.
bool is_missing_number(std::string_view text);

}  // namespace bochner
