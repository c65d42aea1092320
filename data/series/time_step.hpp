#pragma once
/// How people count the time between the rows of a series.

#include <bochner/data/series/wall_clock.hpp>
#include <bochner/data/series/week_slots.hpp>
#include <string>

namespace bochner {

/// The step from row to row, taken from all of them: some calendar months, where all rows stand at
/// one time of the same day of their month (31: of its last), a business day, where none stands on
/// a weekend and weeks are crossed, from slot to slot where rows stand at some times of the day or
/// of the week only, else the median gap in seconds. Dates are those of the clock on the wall.
class TimeStep {
 public:
  /// Times ascend, in seconds since 1970. One second without two of them.
  explicit TimeStep(const std::vector<double>& times, const WallClock& clock = {});
  /// The same step where stamps have other offsets from UTC.
  TimeStep by(const WallClock& clock) const;
  /// The time so many steps on, at the offset from UTC that holds there.
  double after(double time, std::size_t count) const;
  /// Whether nine of ten gaps are alike within 1 %, or steps are those of the calendar or of slots.
  bool is_regular() const { return is_regular_; }
  /// Steps from one row to a later one, rounded. Holidays of up to a week count nothing between
  /// business days and slots; it is 1 where steps are irregular.
  std::size_t between(double earlier, double later) const;
  /// Whether rows whose span is this lie closer than so many steps, by a quarter or more; of
  /// months, business days and irregular steps nobody knows.
  bool are_closer(double span, std::size_t steps) const;
  /// Rows after which a day is over (of those that have rows), or a week of days, or a year of
  /// months or weeks; 1 where no whole number of rows tells.
  std::size_t season() const;
  /// Whether it is one of months or business days.
  bool counts_dates() const { return unit_ != Unit::seconds; }
  /// Whether weekends, nights or others are left out by a rule.
  bool has_pauses() const { return unit_ == Unit::business_days || slots_; }
  /// "1 month", "1 business day", "15 minutes"
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
  double step_ = 1;   ///< in this unit
  unsigned day_ = 1;  ///< of the month, where months are counted
  bool is_regular_ = false;
  std::size_t rows_of_day_ = 0;     ///< of a full one; 0 where there are too few, or all differ
  std::optional<WeekSlots> slots_;  ///< where seconds are counted
  bool by_wall_ = false;            ///< else an hour that clocks skip or repeat is one of others
  WallClock clock_;
};

}  // namespace bochner
