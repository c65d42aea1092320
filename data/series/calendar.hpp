#pragma once
/// Features of rows that follow from their date alone.

#include <string>
#include <vector>

namespace bochner {

/// "minute" (of the hour), "hour" (of the day), "weekday", "day" (of the month), "month" (of the
/// year).
std::vector<std::string> calendar_cycles();
/// Whether <chrono> knows the date of a time, in seconds since 1970 UTC.
bool is_date(double time);
/// Returns the phase of a time, in seconds since 1970 UTC, in a cycle: 0 <= phase < 1. Days of the
/// week and of the month are whole; the year advances daily. Throws DataError for a time
/// that is no date.
double phase_in(const std::string& cycle, double time);

}  // namespace bochner
