#pragma once
/// Usual formats of dates, derived from texts.

#include <string>
#include <string_view>
#include <vector>

namespace bochner {

/// Returns the usual formats of parse_time() in which the text is a time, day before month first:
/// "01/07/2016" is %d/%m/%Y or %m/%d/%Y. None for numbers.
std::vector<std::string> possible_time_formats(std::string_view text);

/// Returns the usual formats that fit most of the texts, nine of ten at least. Of days and months
/// between points, the day comes first.
std::vector<std::string> time_formats_of(const std::vector<std::string>& texts);

/// Returns the only format in which the times are evenly spaced, in seconds or in months; else all
/// formats. Fewer than four different times decide nothing.
std::vector<std::string> evenly_spaced_formats(const std::vector<std::string>& formats,
                                               const std::vector<std::string>& texts);

}  // namespace bochner
