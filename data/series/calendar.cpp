#include <bochner/base/errors.hpp>
#include <bochner/base/shape.hpp>
#include <bochner/data/series/calendar.hpp>
#include <chrono>
#include <cmath>

namespace bochner {
namespace {

constexpr double day_seconds = 86400;

double fraction_of(double number) { return number - std::floor(number); }

double date_phase(const std::string& cycle, double time) {
  using namespace std::chrono;
  const sys_days date{days(std::int64_t(std::floor(time / day_seconds)))};
  if (cycle == "weekday") return double(weekday(date).iso_encoding() - 1) / 7;
  const year_month_day parts(date);
  const double day = double(unsigned(parts.day()) - 1);
  const auto last = year_month_day_last(parts.year(), parts.month() / std::chrono::last).day();
  const double of_month = day / double(unsigned(last));
  return cycle == "day" ? of_month : (double(unsigned(parts.month()) - 1) + of_month) / 12;
}

}  // namespace

std::vector<std::string> calendar_cycles() { return {"minute", "hour", "weekday", "day", "month"}; }

bool is_date(double time) { return time >= -6e10 && time <= 3e11; }

double phase_in(const std::string& cycle, double time) {
  if (!is_date(time))
    throw DataError("data.calendar: the time ", std::to_string(time), " is no date");
  if (cycle == "minute") return fraction_of(time / 3600);
  if (cycle == "hour") return fraction_of(time / day_seconds);
  require(cycle == "weekday" || cycle == "day" || cycle == "month", "calendar",
          "there is no cycle \"", cycle, "\"");
  return date_phase(cycle, time);
}

}  // namespace bochner
