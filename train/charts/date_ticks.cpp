#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/train/charts/date_ticks.hpp>
#include <chrono>
#include <cmath>

namespace bochner {
namespace {

constexpr double most_date_ticks = 6, minute = 60, hour = 3600, day = 86400;
constexpr double year_0 = -62167219200, year_9999 = 253370764800;

/// Formats "2016-07-01 00:00:00" without the parts that all ticks share or lack.
std::string date_label(double time, double step) {
  const std::string text = format_time(time);
  if (step >= day) return text.substr(0, 10);
  return step >= minute ? text.substr(5, 11) : text.substr(11, 8);
}

std::vector<Tick> even_ticks(double low, double high, double step) {
  const double origin = step == 7 * day ? 4 * day : 0;  // a Monday
  std::vector<Tick> ticks;
  for (double i = std::ceil((low - origin) / step); origin + i * step <= high; ++i)
    ticks.push_back({origin + i * step, date_label(origin + i * step, step)});
  return ticks;
}

/// Returns the first of every `step` months, counted from January of the year 0.
std::vector<Tick> month_ticks(double low, double high, int step) {
  const auto date = std::chrono::year_month_day(
      std::chrono::sys_days(std::chrono::days(std::int64_t(std::floor(low / day)))));
  int month = 12 * int(date.year()) + int(unsigned(date.month())) - 1;
  std::vector<Tick> ticks;
  for (month -= month % step;; month += step) {
    const std::chrono::sys_days first =
        std::chrono::year(month / 12) / std::chrono::month(unsigned(month % 12) + 1) / 1;
    const double at = double(first.time_since_epoch().count()) * day;
    if (at > high) return ticks;
    if (at >= low) ticks.push_back({at, format_time(at).substr(0, step % 12 == 0 ? 4 : 7)});
  }
}

}  // namespace

std::vector<Tick> date_ticks(double low, double high) {
  if (!(low >= year_0 && high <= year_9999)) return {};
  for (const double step : {1.0, 5.0, 15.0, 30.0, minute, 5 * minute, 15 * minute, 30 * minute,
                            hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 14 * day})
    if (high - low <= most_date_ticks * step) return even_ticks(low, high, step);
  for (const int months : {1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000})
    if (high - low <= most_date_ticks * 30 * day * months) return month_ticks(low, high, months);
  return month_ticks(low, high, 24000);
}

}  // namespace bochner
