#pragma once

#include <bochner/data/series/wall_clock.hpp>
#include <bochner/data/series/week_slots.hpp>
#include <string>

namespace bochner {

/// Step between rows, derived from all of them: calendar months, if all rows are at one time of the
/// same day of their month (31: its last); a business day, if none is on a weekend and weekends are
/// crossed; slots, if rows are only at some times of the day or week; else the median gap in
/// seconds. Dates are those of the local clock.
class TimeStep {
 public:
  /// Takes ascending times in seconds since 1970. Fewer than two give one second.
  explicit TimeStep(const std::vector<double>& times, const WallClock& clock = {});
  TimeStep by(const WallClock& clock) const;
  /// Returns the time `count` steps later, at the offset from UTC valid there.
  double after(double time, std::size_t count) const;
  /// Returns whether nine of ten gaps are equal within 1 %, or steps are those of the calendar or
  /// of slots.
  bool is_regular() const { return is_regular_; }
  /// Returns the steps from one row to a later one, rounded; 1 if irregular. Holidays of up to a
  /// week count as no steps between business days and slots.
  std::size_t between(double earlier, double later) const;
  /// Returns whether rows with this span are closer than `steps` by a quarter or more; false for
  /// months, business days and irregular steps.
  bool are_closer(double span, std::size_t steps) const;
  /// Returns the rows per day (among days that have rows), per week of days, or per year of months
  /// or weeks; 1 if that is not a whole number.
  std::size_t season() const;
  bool counts_dates() const { return unit_ != Unit::seconds; }
  /// Returns whether a rule leaves out weekends, nights or other times.
  bool has_pauses() const { return unit_ == Unit::business_days || slots_; }
  std::string words() const;

 private:
  enum class Unit { seconds, months, business_days };
  bool counts_days(const std::vector<double>& times);
  bool is_monthly(const std::vector<double>& times);
  bool is_business_daily(const std::vector<double>& times);
  bool has_slots(const std::vector<double>& times);
  void set_seconds(const std::vector<double>& times);
  double stepped(double shown, std::size_t count) const;

  Unit unit_ = Unit::seconds;
  double step_ = 1;   ///< in `unit_`
  unsigned day_ = 1;  ///< day of the month, if months are counted
  bool is_regular_ = false;
  std::size_t rows_of_day_ = 0;     ///< rows of a full day; 0 if there are too few, or they differ
  std::optional<WeekSlots> slots_;  ///< if seconds are counted
  bool by_wall_ = false;            ///< false: a skipped or repeated hour is like any other
  WallClock clock_;
};

}  // namespace bochner
