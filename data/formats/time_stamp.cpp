#include <fmt/chrono.h>

#include <algorithm>
#include <bochner/base/shape.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <chrono>
#include <cmath>
#include <iterator>

namespace bochner {
namespace {

constexpr std::string_view months[] = {"January",   "February", "March",    "April",
                                       "May",       "June",     "July",     "August",
                                       "September", "October",  "November", "December"};
constexpr std::string_view weekdays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                         "Thursday", "Friday", "Saturday"};
constexpr std::string_view directives = "YymdbBaHIpMSzsQqGVu%";
constexpr int most_decimals = 17;

bool is_digit(char character) { return character >= '0' && character <= '9'; }

std::chrono::year_month_day date_of(int year, int month, int day) {
  return std::chrono::year(year) / month / day;
}

double seconds_to(const std::chrono::sys_seconds& time) {
  return double(time.time_since_epoch().count());
}

bool begins_with_name(std::string_view text, std::string_view name) {
  return lower_case(text.substr(0, name.size())) == lower_case(name);
}

/// Returns how much of the text is this name, whole or its first three letters, in any case.
std::size_t size_of_name(std::string_view text, std::string_view name) {
  if (begins_with_name(text, name)) return name.size();
  if (name == "September" && begins_with_name(text, "Sept")) return 4;
  return begins_with_name(text, name.substr(0, 3)) ? 3 : 0;
}

/// Parses a date; every step returns whether the text matches.
class TimeParser {
 public:
  /// `strict`: numbers have their leading zeros.
  TimeParser(std::string_view text, bool strict) : rest_(text), strict_(strict) {}

  bool at_end() const { return rest_.empty(); }
  bool sees(char character) const { return rest_.starts_with(character); }

  bool literal(char character) {
    if (!sees(character)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// Matches a literal of a format; a space matches several.
  bool literals(char character) {
    const bool found = literal(character);
    while (found && character == ' ' && sees(' ')) rest_.remove_prefix(1);
    return found;
  }

  bool directive(char kind) {
    if (kind == 'Y') return digits(4, 0, 9999, year_);
    if (kind == 'y') return year_of_century();
    if (kind == 'm') return up_to_two_digits(1, 12, month_);
    if (kind == 'd') return up_to_two_digits(1, 31, day_);
    if (kind == 'q') return quarter();
    if (kind == 'G') return digits(4, 0, 9999, year_);
    if (kind == 'V') return up_to_two_digits(1, 53, week_);
    if (kind == 'u') return digits(1, 1, 7, weekday_);
    if (kind == 'b' || kind == 'B') return month_name();
    if (kind == 'a') return name_of(weekdays).has_value();
    if (kind == 'H') return up_to_two_digits(0, 23, hour_);
    if (kind == 'I') return hour_of_half();
    if (kind == 'p') return half_of_day();
    if (kind == 'M') return digits(2, 0, 59, minute_);
    if (kind == 'S') return digits(2, 0, 59, second_) && fraction();
    if (kind == 'z') return offset();
    if (kind == 's') return since_1970(1);
    if (kind == 'Q') return since_1970(1000);
    return literal('%');
  }

  std::optional<double> offset_in_seconds() const {
    return offset_ ? std::optional(60.0 * *offset_) : std::nullopt;
  }

  std::optional<double> seconds() const {
    if (unix_) return unix_;
    const std::optional<std::chrono::sys_days> day = this->day();
    if (!day) return std::nullopt;
    return seconds_to(*day + std::chrono::hours(hour_ + later_half_) +
                      std::chrono::minutes(minute_ - offset_.value_or(0)) +
                      std::chrono::seconds(second_)) +
           fraction_;
  }

 private:
  bool digits(std::size_t count, int lowest, int highest, int& number) {
    if (rest_.size() < count) return false;
    number = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_digit(rest_[i])) return false;
      number = 10 * number + (rest_[i] - '0');
    }
    rest_.remove_prefix(count);
    return lowest <= number && number <= highest;
  }

  bool up_to_two_digits(int lowest, int highest, int& number) {
    const bool is_one = rest_.size() == 1 || (rest_.size() > 1 && !is_digit(rest_[1]));
    return digits(is_one && !strict_ ? 1 : 2, lowest, highest, number);
  }

  /// Returns the day of month and day, or of the week, whose year is that of its Thursday.
  std::optional<std::chrono::sys_days> day() const {
    using namespace std::chrono;
    const year_month_day date = date_of(year_, month_, day_);
    if (week_ == 0) return date.ok() ? std::optional(sys_days(date)) : std::nullopt;
    const sys_days first_thursday = year(year_) / January / Thursday[1];
    const sys_days thursday = first_thursday + weeks(week_ - 1);
    if (year_month_day(thursday).year() != year(year_)) return std::nullopt;
    return thursday + days(weekday_ - 4);
  }

  bool quarter() {
    const bool found = digits(1, 1, 4, month_);
    month_ = 3 * month_ - 2;
    return found;
  }

  bool year_of_century() {
    const bool found = digits(2, 0, 99, year_);
    year_ += year_ < 69 ? 2000 : 1900;
    return found;
  }

  bool hour_of_half() {
    const bool found = up_to_two_digits(1, 12, hour_);
    hour_ %= 12;
    return found;
  }

  /// Takes one of the names. Returns its index, or nothing.
  template <std::size_t n>
  std::optional<int> name_of(const std::string_view (&names)[n]) {
    for (std::size_t i = 0; i < n; ++i)
      if (const std::size_t size = size_of_name(rest_, names[i])) {
        rest_.remove_prefix(size);
        return int(i);
      }
    return std::nullopt;
  }

  bool month_name() {
    const std::optional<int> found = name_of(months);
    month_ = found.value_or(0) + 1;
    return found.has_value();
  }

  bool half_of_day() {
    const std::string half = lower_case(rest_.substr(0, 2));
    if (half != "am" && half != "pm") return false;
    later_half_ = half == "pm" ? 12 : 0;
    rest_.remove_prefix(2);
    return true;
  }

  bool fraction() {
    if (!sees('.')) return true;
    std::size_t size = 1;
    while (size < rest_.size() && is_digit(rest_[size])) ++size;
    const auto number = parse_number(rest_.substr(0, size));
    if (size == 1 || !number) return false;
    fraction_ = *number;
    rest_.remove_prefix(size);
    return true;
  }

  bool offset() {
    offset_ = 0;
    if (literal('Z')) return true;
    const int sign = sees('-') ? -1 : 1;
    if (!literal('-') && !literal('+')) return false;
    int hours = 0, minutes = 0;
    if (!digits(2, 0, 23, hours)) return false;
    const bool more = literal(':') || (!at_end() && is_digit(rest_.front()));
    if (more && !digits(2, 0, 59, minutes)) return false;
    offset_ = sign * (60 * hours + minutes);
    return true;
  }

  bool since_1970(double parts_of_second) {
    std::size_t size = sees('-') ? 1 : 0;
    while (size < rest_.size() && (is_digit(rest_[size]) || rest_[size] == '.')) ++size;
    unix_ = parse_number(rest_.substr(0, size));
    rest_.remove_prefix(size);
    if (unix_) *unix_ /= parts_of_second;
    return unix_.has_value();
  }

  std::string_view rest_;
  bool strict_;
  int year_ = 1970, month_ = 1, day_ = 1, hour_ = 0, minute_ = 0, second_ = 0;
  int week_ = 0, weekday_ = 1;  // of ISO 8601; 0 for none
  int later_half_ = 0;          // hours
  std::optional<int> offset_;   // minutes east of UTC
  double fraction_ = 0;
  std::optional<double> unix_;
};

bool follows(TimeParser& parser, std::string_view format) {
  for (std::size_t i = 0; i < format.size(); ++i) {
    const bool is_directive = format[i] == '%' && i + 1 < format.size();
    if (is_directive ? !parser.directive(format[++i]) : !parser.literals(format[i])) return false;
  }
  return true;
}

bool follows_iso(TimeParser& parser) {
  if (!follows(parser, "%Y-%m-%d")) return false;
  if (parser.at_end()) return true;
  if (!parser.literal('T') && !parser.literal(' ')) return false;
  if (!follows(parser, "%H:%M")) return false;
  if (parser.sees(':') && !follows(parser, ":%S")) return false;
  return parser.at_end() || parser.directive('z');
}

}  // namespace

std::optional<double> parse_time(std::string_view text, std::string_view format) {
  const std::optional<TimeStamp> stamp = parse_stamp(text, format);
  return stamp ? std::optional(stamp->seconds) : std::nullopt;
}

std::optional<TimeStamp> parse_stamp(std::string_view text, std::string_view format) {
  TimeParser parser(text, format.empty());
  const bool follows_it = format.empty() ? follows_iso(parser) : follows(parser, format);
  const std::optional<double> seconds =
      follows_it && parser.at_end() ? parser.seconds() : std::nullopt;
  if (!seconds) return std::nullopt;
  return TimeStamp{*seconds, parser.offset_in_seconds()};
}

void require_time_format(std::string_view format) {
  bool half_of_day = false, hour_of_half = false;
  for (std::size_t i = format.find('%'); i != format.npos; i = format.find('%', i + 2)) {
    const std::string_view directive = format.substr(i, 2);
    require(directive.size() == 2 && directives.find(directive[1]) != directives.npos,
            "time_format", excerpt(format), ": no such directive as ", directive,
            "; there are %Y %y %m %d %b %B %a %H %I %p %M %S %z %s %Q %q %G %V %u %%");
    half_of_day |= directive[1] == 'p';
    hour_of_half |= directive[1] == 'I';
  }
  require(!half_of_day || hour_of_half, "time_format", excerpt(format),
          ": %p says which half of the day and needs the hours of %I");
}

bool has_date(double seconds) {
  const std::chrono::sys_days first = date_of(0, 1, 1), behind = date_of(10000, 1, 1);
  return seconds >= seconds_to(first) && seconds < seconds_to(behind);
}

bool is_recent(double seconds) {
  const std::chrono::sys_days first = date_of(1990, 1, 1), last = date_of(2100, 1, 1);
  return seconds >= seconds_to(first) && seconds <= seconds_to(last);
}

std::string format_time(double seconds) {
  if (!has_date(seconds)) return format_number(seconds);
  const double whole = std::floor(seconds), fraction = seconds - whole;
  const std::chrono::sys_seconds instant{std::chrono::seconds(std::int64_t(whole))};
  const auto day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date(day);
  const std::string text = fmt::format("{:04}-{:02}-{:02} {:%T}", int(date.year()),
                                       unsigned(date.month()), unsigned(date.day()), instant - day);
  if (fraction == 0) return text;
  for (int decimals = 1; decimals <= most_decimals; ++decimals) {
    const std::string digits = fmt::format("{:.{}f}", fraction, decimals);
    const std::string stamp = text + digits.substr(1);
    if (digits[0] == '0' && parse_time(stamp) == seconds) return stamp;
  }
  return format_number(seconds);
}

std::string format_numeric_time(double number) { return fmt::format("{}", number); }

std::string time_text(double time, bool is_number) {
  return is_number ? format_numeric_time(time) : format_time(time);
}

std::string format_time(double seconds, double offset) {
  const int minutes = int(std::abs(offset) / 60);
  return fmt::format("{}{}{:02}:{:02}", format_time(seconds + offset), offset < 0 ? '-' : '+',
                     minutes / 60, minutes % 60);
}

}  // namespace bochner
