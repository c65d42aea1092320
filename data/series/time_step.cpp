#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/base/shape.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/series/time_step.hpp>
#include <chrono>
#include <iterator>
#include <numeric>

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

/// Returns the day of this month, or its last day if it is shorter.
std::int64_t day_in_month(std::int64_t month, unsigned day) {
  const std::chrono::year_month in{std::chrono::year(int(month / 12)),
                                   std::chrono::month(unsigned(month % 12) + 1)};
  const std::chrono::year_month_day date = in / std::chrono::day(std::min(day, last_day(in)));
  return std::chrono::sys_days(date).time_since_epoch().count();
}

/// Returns 0 for Monday.
std::int64_t weekday_of(std::int64_t day) { return ((day - first_monday) % 7 + 7) % 7; }

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

constexpr std::int64_t whole_day_seconds = 86400, week_seconds = 7 * whole_day_seconds,
                       shortest_step = 60;
constexpr std::int64_t monday = 4 * whole_day_seconds;  // 1970-01-05
constexpr std::int64_t longest_holidays = 7;            // days
constexpr std::int64_t fewest_periods = 3;
constexpr double largest_second = 1e15;

std::int64_t floor_of(double number) { return std::int64_t(std::floor(number)); }

std::int64_t floor_ratio(std::int64_t number, std::int64_t by) {
  return number / by - (number % by < 0);
}

/// Returns the largest step that reaches all times from the first one; 0 if there is none.
std::int64_t grid_step(const std::vector<double>& times) {
  std::int64_t step = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    const double gap = times[i] - times[i - 1];
    if (gap != std::floor(gap) || std::abs(gap) > largest_second) return 0;
    step = std::gcd(step, std::int64_t(gap));
  }
  return step;
}

/// Returns which slots of a period have rows in at least the fraction `fewest` of the periods;
/// nothing if some are neither that frequent nor rare.
std::vector<bool> taken_slots(const std::vector<std::int64_t>& slots, std::int64_t period,
                              double fewest) {
  std::vector<std::int64_t> rows(std::size_t(period), 0);
  for (const std::int64_t slot : slots) ++rows[std::size_t(slot % period)];
  std::vector<bool> taken;
  for (std::int64_t at = 0; at < period; ++at) {
    const auto periods = double(floor_ratio(slots.back() - at, period) -
                                floor_ratio(slots.front() - 1 - at, period));
    const auto part = double(rows[std::size_t(at)]) / periods;
    if (part > 0.1 && part < fewest) return {};
    taken.push_back(part >= fewest);
  }
  return taken;
}

std::vector<bool> repeated(const std::vector<bool>& taken, std::size_t count) {
  std::vector<bool> all;
  while (!taken.empty() && all.size() < count) all.insert(all.end(), taken.begin(), taken.end());
  return all;
}

}  // namespace

std::optional<WeekSlots> WeekSlots::of(const std::vector<double>& times) {
  const std::int64_t step = grid_step(times);
  if (step < shortest_step || whole_day_seconds % step != 0) return std::nullopt;
  const std::int64_t a_day = whole_day_seconds / step, a_week = 7 * a_day;
  const double from = times.front() - double(monday);
  const double phase = from - double(step * floor_of(from / double(step)));
  std::vector<std::int64_t> slots;  // counted from a Monday before the first time
  const std::int64_t first_week = floor_of(from / double(week_seconds));
  for (const double time : times)
    slots.push_back(floor_of((time - double(monday) - phase) / double(step)) - first_week * a_week);
  const std::int64_t covered = slots.back() - slots.front() + 1;
  const bool by_week = covered >= fewest_periods * a_week;
  if (!by_week && covered < fewest_periods * a_day) return std::nullopt;
  const std::vector<bool> taken =
      repeated(by_week ? taken_slots(slots, a_week, 0.7) : taken_slots(slots, a_day, 0.9),
               std::size_t(a_week));
  const auto has_row = [&](std::int64_t slot) { return taken[std::size_t(slot % a_week)]; };
  const auto all = std::ptrdiff_t(a_week), open = std::ranges::count(taken, true);
  if (open == 0 || open == all) return std::nullopt;
  if (double(std::ranges::count_if(slots, has_row)) < 0.98 * double(slots.size()))
    return std::nullopt;
  return WeekSlots(double(step), phase, taken);
}

WeekSlots::WeekSlots(double step, double phase, const std::vector<bool>& taken)
    : step_(step), phase_(phase), rows_{0} {
  for (const bool each : taken) rows_.push_back(rows_.back() + each);
}

bool WeekSlots::is_valid() const {
  if (rows_.size() < 8 || rows_[0] != 0 || rows_.back() == 0) return false;
  const auto a_week = std::int64_t(rows_.size()) - 1;
  const bool fills_days = a_week % 7 == 0 && week_seconds % a_week == 0;
  if (!fills_days || step_ != double(week_seconds / a_week) || step_ < double(shortest_step))
    return false;
  for (std::size_t i = 1; i < rows_.size(); ++i)
    if (rows_[i] != rows_[i - 1] && rows_[i] != rows_[i - 1] + 1) return false;
  return phase_ >= 0 && phase_ < step_;
}

std::int64_t WeekSlots::slot_at(double time) const {
  return floor_of((time - double(monday) - phase_) / step_);
}

std::int64_t WeekSlots::rows_before(std::int64_t slot) const {
  const auto a_week = std::int64_t(rows_.size()) - 1;
  const std::int64_t week = floor_ratio(slot, a_week);
  return week * rows_.back() + rows_[std::size_t(slot - week * a_week)];
}

double WeekSlots::after(double time, std::size_t count) const {
  const auto a_week = std::int64_t(rows_.size()) - 1;
  const std::int64_t wanted = rows_before(slot_at(time) + 1) + std::int64_t(count);
  const std::int64_t week = floor_ratio(wanted - 1, rows_.back());
  const auto next = std::ranges::lower_bound(rows_, wanted - week * rows_.back());
  const std::int64_t slot = week * a_week + (next - rows_.begin()) - 1;
  return double(monday) + phase_ + double(slot) * step_;
}

std::size_t WeekSlots::between(double earlier, double later) const {
  const auto a_day = std::int64_t(rows_.size() - 1) / 7;
  const std::int64_t first = slot_at(earlier), last = slot_at(later);
  const std::int64_t day = floor_ratio(first, a_day), last_day = floor_ratio(last, a_day);
  std::int64_t rows = rows_before(last + 1) - rows_before(first + 1);
  if (last_day - day > 1 && last_day - day <= 1 + longest_holidays)
    rows -= rows_before(last_day * a_day) - rows_before((day + 1) * a_day);
  return std::size_t(std::max<std::int64_t>(rows, 0));
}

std::size_t WeekSlots::season() const {
  const std::size_t a_day = (rows_.size() - 1) / 7;
  std::int64_t of_day = 0;
  for (std::size_t day = 0; day < 7; ++day) {
    const std::int64_t rows = rows_[(day + 1) * a_day] - rows_[day * a_day];
    if (rows == 0) continue;
    if (rows == 1 || (of_day > 0 && rows != of_day)) return std::size_t(rows_.back());
    of_day = rows;
  }
  return std::size_t(of_day);
}

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
  std::vector<double> months;
  for (const double time : times) {
    months.push_back(double(month_of(time)));
    if (day_of(time) != day_in_month(month_of(time), latest_day)) return false;
  }
  const std::vector<double> steps = differences(months);
  const double step = median(steps);
  if (std::ranges::any_of(steps, [&](double each) { return std::fmod(each, step) != 0; }))
    return false;
  unit_ = Unit::months, step_ = step, day_ = latest_day, is_regular_ = true;
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
  if (unit_ == Unit::seconds) return shown + double(count) * step_;
  const std::int64_t today = day_of(shown), steps = std::int64_t(step_) * std::int64_t(count);
  const std::int64_t day = unit_ == Unit::months ? day_in_month(month_of(shown) + steps, day_)
                                                 : day_of_business(business_day_of(today) + steps);
  return shown + double(day - today) * seconds_of_day;
}

std::size_t TimeStep::between(double earlier, double later) const {
  if (!is_regular_) return 1;
  earlier = clock_.shown(earlier), later = clock_.shown(later);
  if (slots_) return slots_->between(earlier, later);
  if (unit_ == Unit::seconds) return std::size_t(std::llround((later - earlier) / step_));
  if (unit_ == Unit::months)
    return std::size_t((month_of(later) - month_of(earlier)) / std::int64_t(step_));
  const std::int64_t days = business_day_of(day_of(later)) - business_day_of(day_of(earlier));
  return std::size_t(days > 1 + holidays ? days : 1);
}

std::size_t TimeStep::season() const {
  if (unit_ == Unit::business_days) return 5;
  if (unit_ == Unit::months) return std::fmod(12, step_) == 0 ? std::size_t(12 / step_) : 1;
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
  if (!(step_ > 0 && std::isfinite(step_) && unit_ <= Unit::business_days)) return false;
  if (unit_ == Unit::seconds) return true;
  return step_ == std::floor(step_) && step_ <= most_months && day_ >= 1 && day_ <= 31;
}

}  // namespace bochner
