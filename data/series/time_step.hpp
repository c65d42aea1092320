#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bochner {

/// Recurring times of the week that have rows: opening hours, trading hours, weeks of six days.
class WeekSlots {
 public:
  /// Derives the slots from times: a slot has rows in at least seven of ten weeks, others in one of
  /// ten at most. Nothing if all slots have rows or some are in between. With less than three
  /// weeks, finds only times of the day, if all days have them.
  static std::optional<WeekSlots> of(const std::vector<double>& times);
  double after(double time, std::size_t count) const;
  /// Returns the rows from one time to a later one, without holidays: up to a week of empty days.
  std::size_t between(double earlier, double later) const;
  /// Returns the rows of a day, or of a week if days differ or have one row.
  std::size_t season() const;
  friend bool operator==(const WeekSlots&, const WeekSlots&) = default;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(step_, phase_, rows_);
  }
  bool is_valid() const;

 private:
  friend class TimeStep;
  WeekSlots() = default;
  bool is_empty() const { return rows_.empty(); }
  WeekSlots(double step, double phase, const std::vector<bool>& taken);
  std::int64_t slot_at(double time) const;
  /// Returns the rows before a slot, counted from slot 0.
  std::int64_t rows_before(std::int64_t slot) const;

  double step_ = 1, phase_ = 0;     ///< slot 0 begins `phase_` after a Monday
  std::vector<std::int64_t> rows_;  ///< rows before each slot of the week, and before its end
};

/// Offsets that stamps carry, from one change to the next; of stamps without any, UTC.
class WallClock {
 public:
  WallClock() = default;
  /// Times ascend, in seconds since 1970 UTC; offsets in seconds east of it. (rows) each, or none.
  WallClock(const std::vector<double>& times, const std::vector<double>& offsets);
  bool is_utc() const { return changes_.empty(); }
  /// That of the last stamp up to a time, of the first one before that.
  double offset(double time) const;
  /// What it shows, in seconds since a 1970 of its own.
  double shown(double time) const { return time + offset(time); }
  std::vector<double> shown(const std::vector<double>& times) const;
  friend bool operator==(const WallClock&, const WallClock&) = default;

 private:
  std::vector<std::pair<double, double>> changes_;  ///< times, and offsets from then on
};

/// "minute" of the hour, "hour" of the day, "weekday", "day" of the month, "month" of the year.
std::vector<std::string> calendar_cycles();
/// Whether <chrono> knows the date of a time, in seconds since 1970 UTC.
bool is_date(double time);
/// Returns the phase of a time, in seconds since 1970 UTC, in a cycle: 0 <= phase < 1. Days of the
/// week and of the month are whole; the year advances daily. Throws DataError for other times.
double phase_in(const std::string& cycle, double time);

/// Step between rows, derived from all of them: calendar months, if all rows are at one time of the
/// same day of their month (31: its last), or mostly on its first or last business day; a business
/// day, if none is on a weekend and weekends are crossed; slots, if rows are only at some times of
/// the day or week; else the median gap in seconds, or in the unit of numeric times. Dates are
/// those of the local clock.
class TimeStep {
 public:
  /// Makes a step of one second.
  TimeStep() = default;
  /// Takes ascending times in seconds since 1970. Fewer than two give one second.
  explicit TimeStep(const std::vector<double>& times, const WallClock& clock = {});
  /// Takes ascending numbers that are not seconds since 1970.
  static TimeStep of_numbers(const std::vector<double>& numbers);
  TimeStep by(const WallClock& clock) const;
  /// Returns the time `count` steps later, at the offset from UTC valid there.
  double after(double time, std::size_t count) const;
  /// Returns whether nine of ten gaps are equal within 1 %, or steps follow the calendar or slots.
  bool is_regular() const { return is_regular_; }
  /// Returns the steps from one row to a later one, rounded; 1 if irregular. Holidays of up to a
  /// week count as no steps between business days and slots.
  std::size_t between(double earlier, double later) const;
  /// Returns whether rows with this span are closer than `steps` by a quarter or more; false for
  /// months, business days and irregular steps.
  bool are_closer(double span, std::size_t steps) const {
    return !counts_dates() && is_regular_ && span < 0.75 * double(steps) * step_;
  }
  /// Returns the rows per day (among days that have rows), per week of days, or per year of months
  /// or weeks; 1 if that is not a whole number.
  std::size_t season() const;
  bool counts_dates() const { return unit_ == Unit::months || unit_ == Unit::business_days; }
  /// Returns whether a rule leaves out weekends, nights or other times.
  bool has_pauses() const { return unit_ == Unit::business_days || slots_; }
  std::string words() const;
  friend bool operator==(const TimeStep&, const TimeStep&) = default;

  /// All but the clock, which by() sets.
  template <class Archive>
  void serialize(Archive& archive) {
    auto unit = std::uint8_t(unit_), regular = std::uint8_t(is_regular_),
         by_wall = std::uint8_t(by_wall_);
    WeekSlots slots = slots_.value_or(WeekSlots());
    archive(unit, step_, day_, regular, rows_of_day_, by_wall, slots);
    unit_ = Unit(unit);
    is_regular_ = regular > 0;
    by_wall_ = by_wall > 0;
    if (!slots.is_empty()) slots_ = std::move(slots);
  }
  /// Whether what was read is a step: after() and between() may be called.
  bool is_valid() const;

 private:
  enum class Unit : std::uint8_t { seconds, months, business_days, numbers };
  bool counts_days(const std::vector<double>& times);
  bool is_monthly(const std::vector<double>& times);
  bool set_months(const std::vector<double>& times, unsigned day);
  bool is_business_daily(const std::vector<double>& times);
  bool has_slots(const std::vector<double>& times);
  void set_seconds(const std::vector<double>& times);
  double stepped(double shown, std::size_t count) const;

  Unit unit_ = Unit::seconds;
  double step_ = 1;   ///< in `unit_`
  unsigned day_ = 1;  ///< day of the month, if months are counted, or a business day of it
  bool is_regular_ = false;
  std::size_t rows_of_day_ = 0;     ///< rows of a full day; 0 if there are too few, or they differ
  std::optional<WeekSlots> slots_;  ///< if seconds are counted
  bool by_wall_ = false;            ///< false: a skipped or repeated hour is like any other
  WallClock clock_;
};

}  // namespace bochner
