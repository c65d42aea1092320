#pragma once
/// What a date tells of the rows of a series beforehand.

#include <string>
#include <vector>

namespace bochner {

/// "minute" (of the hour), "hour" (of the day), "weekday", "day" (of the month), "month" (of the
/// year).
std::vector<std::string> calendar_cycles();
/// Whether <chrono> knows the date of a time, in seconds since 1970 UTC.
bool is_date(double time);
/// How far a time, in seconds since 1970 UTC, is through such a cycle: 0 <= phase < 1. Days of the
/// week and of the month are whole; the year goes on from day to day. Throws DataError for a time
/// that is no date.
double phase_in(const std::string& cycle, double time);

}  // namespace bochner
