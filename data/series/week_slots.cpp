#include <algorithm>
#include <bochner/data/series/time_step.hpp>
#include <cmath>
#include <numeric>

namespace bochner {
namespace {

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

}  // namespace bochner
