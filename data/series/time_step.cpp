#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/base/shape.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/series/time_step.hpp>
#include <chrono>
#include <iterator>

namespace bochner {
namespace {

constexpr double seconds_of_day = 86400;
constexpr std::int64_t first_monday = 4;  // 1970-01-05
constexpr std::int64_t holidays = 5;      // consecutive business days off that are not a gap

std::int64_t day_of(double time) { return std::int64_t(std::floor(time / seconds_of_day)); }

std::chrono::year_month_day date_of(std::int64_t day) {
  return std::chrono::year_month_day(std::chrono::sys_days(std::chrono::days(day)));
}

std::int64_t month_of(double time) {
  const std::chrono::year_month_day date = date_of(day_of(time));
  return 12 * std::int64_t(int(date.year())) + std::int64_t(unsigned(date.month())) - 1;
}

unsigned last_day(std::chrono::year_month month) {
  return unsigned(
      std::chrono::year_month_day_last(month.year(), month.month() / std::chrono::last).day());
}

/// Returns 0 for Monday.
std::int64_t weekday_of(std::int64_t day) { return ((day - first_monday) % 7 + 7) % 7; }

constexpr unsigned last_of_month = 31, first_business = 32, last_business = 33;

/// Returns the day of this month, or its last day if it is shorter; or a business day of it.
std::int64_t day_in_month(std::int64_t month, unsigned day) {
  const std::chrono::year_month in{std::chrono::year(int(month / 12)),
                                   std::chrono::month(unsigned(month % 12) + 1)};
  const unsigned number = day == first_business ? 1 : std::min(day, last_day(in));
  const std::int64_t found =
      std::chrono::sys_days(in / std::chrono::day(number)).time_since_epoch().count();
  const std::int64_t weekend = std::max<std::int64_t>(0, weekday_of(found) - 4);  // 1: Saturday
  if (day == first_business) return found + (weekend == 0 ? 0 : 3 - weekend);
  return day == last_business ? found - weekend : found;
}

/// Returns whether at least three of four times are on this day of their month and the others at
/// most four days nearer to its middle, as after holidays.
bool are_mostly_on(const std::vector<double>& times, unsigned day) {
  constexpr std::int64_t most = 4;
  std::size_t exact = 0;
  for (const double time : times) {
    const std::int64_t before = day_in_month(month_of(time), day) - day_of(time),
                       off = day == first_business ? -before : before;
    if (off < 0 || off > most) return false;
    exact += off == 0;
  }
  return 4 * exact >= 3 * times.size();
}

std::int64_t business_day_of(std::int64_t day) {
  const std::int64_t weekday = weekday_of(day);
  return (day - first_monday - weekday) / 7 * 5 + std::min<std::int64_t>(weekday, 4);
}

std::int64_t day_of_business(std::int64_t business) {
  const std::int64_t weekday = (business % 5 + 5) % 5;
  return (business - weekday) / 5 * 7 + weekday + first_monday;
}

std::vector<double> differences(const std::vector<double>& numbers) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < numbers.size(); ++i) steps.push_back(numbers[i] - numbers[i - 1]);
  return steps;
}

/// Returns whether nine of ten steps equal `step` within 1 %.
bool are_mostly(const std::vector<double>& steps, double step) {
  const auto alike = std::ranges::count_if(
      steps, [&](double each) { return std::abs(each - step) <= 0.01 * step; });
  return double(alike) >= 0.9 * double(steps.size());
}

bool are_of_calendar(const std::vector<double>& times) {
  return times.size() >= 3 && is_date(times.front()) && is_date(times.back());
}

/// Returns whether all times are at one time of day.
bool are_dates(const std::vector<double>& times) {
  const double hour = times[0] - double(day_of(times[0])) * seconds_of_day;
  return std::ranges::all_of(
      times, [&](double time) { return time - double(day_of(time)) * seconds_of_day == hour; });
}

/// Returns the rows of each day except the first and the last, which may be incomplete.
std::vector<double> rows_of_days(const std::vector<double>& times) {
  std::vector<double> rows;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i == 0 || day_of(times[i]) != day_of(times[i - 1])) rows.push_back(0);
    ++rows.back();
  }
  return rows.size() < 3 ? std::vector<double>()
                         : std::vector<double>(rows.begin() + 1, rows.end() - 1);
}

double fraction_of(double number) { return number - std::floor(number); }

double date_phase(const std::string& cycle, double time) {
  const std::int64_t number = day_of(time);
  if (cycle == "weekday") return double(weekday_of(number)) / 7;
  const std::chrono::year_month_day date = date_of(number);
  const double day = double(unsigned(date.day()) - 1);
  const double of_month = day / double(last_day(date.year() / date.month()));
  return cycle == "day" ? of_month : (double(unsigned(date.month()) - 1) + of_month) / 12;
}

}  // namespace

WallClock::WallClock(const std::vector<double>& times, const std::vector<double>& offsets) {
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (changes_.empty() || changes_.back().second != offsets[i])
      changes_.emplace_back(times[i], offsets[i]);
}

double WallClock::offset(double time) const {
  if (changes_.empty()) return 0;
  const auto later =
      std::ranges::upper_bound(changes_, time, {}, &std::pair<double, double>::first);
  return later == changes_.begin() ? changes_.front().second : std::prev(later)->second;
}

std::vector<double> WallClock::shown(const std::vector<double>& times) const {
  std::vector<double> all;
  for (const double time : times) all.push_back(shown(time));
  return all;
}

std::vector<std::string> calendar_cycles() { return {"minute", "hour", "weekday", "day", "month"}; }

bool is_date(double time) { return time >= -6e10 && time <= 3e11; }

double phase_in(const std::string& cycle, double time) {
  if (!is_date(time))
    throw DataError("data.calendar: the time ", std::to_string(time), " is no date");
  if (cycle == "minute") return fraction_of(time / 3600);
  if (cycle == "hour") return fraction_of(time / seconds_of_day);
  require(cycle == "weekday" || cycle == "day" || cycle == "month", "calendar",
          "there is no cycle \"", cycle, "\"");
  return date_phase(cycle, time);
}

TimeStep::TimeStep(const std::vector<double>& times, const WallClock& clock) {
  if (times.size() < 2) return;
  const std::vector<double> shown = clock.shown(times);
  by_wall_ = are_of_calendar(shown) && (counts_days(shown) || has_slots(shown));
  if (!by_wall_) set_seconds(times);
  if (by_wall_) clock_ = clock;
}

TimeStep TimeStep::of_numbers(const std::vector<double>& numbers) {
  TimeStep step;
  step.unit_ = Unit::numbers;
  if (numbers.size() < 2) return step;
  const std::vector<double> steps = differences(numbers);
  step.step_ = median(steps);
  step.is_regular_ = are_mostly(steps, step.step_);
  return step;
}

TimeStep TimeStep::by(const WallClock& clock) const {
  TimeStep step = *this;
  if (by_wall_) step.clock_ = clock;
  return step;
}

bool TimeStep::counts_days(const std::vector<double>& times) {
  if (!are_dates(times)) return false;
  if (is_monthly(times) || is_business_daily(times) || has_slots(times)) return true;
  set_seconds(times);
  return true;
}

bool TimeStep::has_slots(const std::vector<double>& times) {
  slots_ = WeekSlots::of(times);
  if (!slots_) return false;
  set_seconds(times);
  is_regular_ = true;
  return true;
}

bool TimeStep::is_monthly(const std::vector<double>& times) {
  unsigned latest_day = 1;
  for (const double time : times)
    latest_day = std::max(latest_day, unsigned(date_of(day_of(time)).day()));
  const auto are_on = [&](unsigned day) {
    return std::ranges::all_of(
        times, [&](double time) { return day_of(time) == day_in_month(month_of(time), day); });
  };
  for (const unsigned day : {last_of_month, latest_day})
    if (are_on(day)) return set_months(times, day);
  for (const unsigned day : {last_business, last_of_month, first_business})
    if (are_mostly_on(times, day)) return set_months(times, day);
  return false;
}

/// Sets a step of months from one such day to another, if steps are multiples of their median.
bool TimeStep::set_months(const std::vector<double>& times, unsigned day) {
  std::vector<double> months;
  for (const double time : times) months.push_back(double(month_of(time)));
  const std::vector<double> steps = differences(months);
  const double step = median(steps);
  if (std::ranges::any_of(steps,
                          [&](double each) { return each < 1 || std::fmod(each, step) != 0; }))
    return false;
  unit_ = Unit::months, step_ = step, day_ = day, is_regular_ = true;
  return true;
}

bool TimeStep::is_business_daily(const std::vector<double>& times) {
  const std::vector<double> steps = differences(times);
  const bool works =
      std::ranges::all_of(times, [](double time) { return weekday_of(day_of(time)) < 5; });
  if (!works || median(steps) != seconds_of_day || std::ranges::max(steps) < 3 * seconds_of_day)
    return false;
  unit_ = Unit::business_days, step_ = 1, is_regular_ = true;
  return true;
}

void TimeStep::set_seconds(const std::vector<double>& times) {
  const std::vector<double> steps = differences(times);
  step_ = median(steps);
  is_regular_ = are_mostly(steps, step_);
  if (!are_of_calendar(times)) return;
  const std::vector<double> rows = rows_of_days(times);
  const double full = quantile_of(rows, 0.9);  // some days have gaps
  if (is_regular_ || quantile_of(rows, 0.25) == full) rows_of_day_ = std::size_t(full);
}

double TimeStep::after(double time, std::size_t count) const {
  const double offset = clock_.offset(time), then = stepped(time + offset, count);
  return then - clock_.offset(then - offset);
}

double TimeStep::stepped(double shown, std::size_t count) const {
  if (slots_) return slots_->after(shown, count);
  if (!counts_dates()) return shown + double(count) * step_;
  const std::int64_t today = day_of(shown), steps = std::int64_t(step_) * std::int64_t(count);
  const std::int64_t day = unit_ == Unit::months ? day_in_month(month_of(shown) + steps, day_)
                                                 : day_of_business(business_day_of(today) + steps);
  return shown + double(day - today) * seconds_of_day;
}

std::size_t TimeStep::between(double earlier, double later) const {
  if (!is_regular_) return 1;
  earlier = clock_.shown(earlier), later = clock_.shown(later);
  if (slots_) return slots_->between(earlier, later);
  if (!counts_dates()) return std::size_t(std::llround((later - earlier) / step_));
  if (unit_ == Unit::months)
    return std::size_t((month_of(later) - month_of(earlier)) / std::int64_t(step_));
  const std::int64_t days = business_day_of(day_of(later)) - business_day_of(day_of(earlier));
  return std::size_t(days > 1 + holidays ? days : 1);
}

std::size_t TimeStep::season() const {
  if (unit_ == Unit::business_days) return 5;
  if (unit_ == Unit::months) return std::fmod(12, step_) == 0 ? std::size_t(12 / step_) : 1;
  if (unit_ == Unit::numbers) return 1;
  if (slots_) return slots_->season();
  if (!is_regular_) return std::max<std::size_t>(1, rows_of_day_);
  if (step_ == 7 * seconds_of_day) return 52;
  if (step_ == seconds_of_day) return 7;
  const double rows = seconds_of_day / step_;
  if (!(rows > 1 && rows == std::floor(rows))) return 1;
  return rows_of_day_ > 0 ? std::min(std::size_t(rows), rows_of_day_) : std::size_t(rows);
}

std::string TimeStep::words() const {
  if (unit_ == Unit::business_days) return "1 business day";
  if (unit_ == Unit::months) return format_number_of(std::size_t(step_), "month");
  if (unit_ == Unit::numbers) return format_number(step_);
  constexpr std::pair<double, const char*> units[] = {
      {86400, "day"}, {3600, "hour"}, {60, "minute"}};
  for (const auto& [seconds, name] : units)
    if (step_ >= seconds && std::fmod(step_, seconds) == 0)
      return format_number_of(std::size_t(step_ / seconds), name);
  return format_number(step_) + " s";
}

bool TimeStep::is_valid() const {
  constexpr double most_months = 12 * 10000;
  if (slots_ && !slots_->is_valid()) return false;
  if (!(step_ > 0 && std::isfinite(step_) && unit_ <= Unit::numbers)) return false;
  if (!counts_dates()) return true;
  return step_ == std::floor(step_) && step_ <= most_months && day_ >= 1 && day_ <= last_business;
}

}  // namespace bochner
