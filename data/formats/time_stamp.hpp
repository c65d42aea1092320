#pragma once
/// Dates as seconds since 1970-01-01 00:00:00 UTC, whatever the locale and the time zone here.

#include <optional>
#include <string>
#include <string_view>

namespace bochner {

/// ISO 8601: "2016-07-01", "2016-07-01 00:00", "2016-07-01T00:00:00.25Z", "2016-07-01T02:00+02:00".
/// Without an offset it is UTC. Nothing where the text is something else or no such day exists.
/// Or after a format with %Y %y %m %d %b %B %a %H %I %p %M %S %z %s %Q %q %G %V %u %% as in
/// strptime, numbers with or without a leading zero: %y is 1969 to 2068, %b or %B an English month
/// and %a a weekday, whole or of three letters, %I and %p the hour up to 12 and AM or PM, %S may
/// have a fraction, %z is Z or +02:00 or +0200, %s seconds since 1970 and %Q milliseconds, %q the
/// quarter, %G, %V and %u year, week and weekday (Monday is 1) of ISO 8601. A space matches one or
/// more; all other characters match themselves.
std::optional<double> parse_time(std::string_view text, std::string_view format = "");
/// The same, and the seconds east of UTC that the text says.
struct TimeStamp {
  double seconds;
  std::optional<double> offset;
};
std::optional<TimeStamp> parse_stamp(std::string_view text, std::string_view format = "");
/// Throws std::invalid_argument where the format has another directive, or %p without %I.
void require_time_format(std::string_view format);

/// Whether the time is in the years 0 to 9999, which dates have.
bool has_date(double seconds);
/// Whether the time is from 1990 to 2100: numbers of a table that are all within are read as
/// seconds since 1970.
bool is_recent(double seconds);
/// "2016-07-01 00:00:00", with as few decimals as say the same number again; the years 0 to 9999.
/// Other numbers as they are.
std::string format_time(double seconds);
/// "1700000000.5": a time that is a number but not seconds since 1970. No exponent, as in %s, from
/// 0.0001 to 1e16.
std::string format_numeric_time(double number);
/// A time of a table: a date, or a number if its times are numbers.
std::string time_text(double time, bool is_number);
/// "2016-07-01 02:00:00+02:00", so many seconds east of UTC.
std::string format_time(double seconds, double offset);

}  // namespace bochner
