#pragma once
/// How people count the time between the rows of a series.

#include <cstddef>
#include <string>
#include <vector>

namespace bochner {

/// The step from row to row, taken from all of them: some calendar months, where all rows stand at
/// one time of the same day of their month (31: of its last), a business day, where none stands on
/// a weekend and weeks are crossed, else the median gap in seconds. Dates are those of UTC.
class TimeStep {
 public:
  /// Times ascend, in seconds since 1970. One second without two of them.
  explicit TimeStep(const std::vector<double>& times);
  /// The time so many steps on.
  double after(double time, std::size_t count) const;
  /// Whether nine of ten gaps are alike within 1 %, or steps are those of the calendar.
  bool is_regular() const { return is_regular_; }
  /// Steps from one row to a later one, rounded. Holidays of up to a week count nothing between
  /// business days; it is 1 where they are irregular.
  std::size_t between(double earlier, double later) const;
  /// Whether rows whose span is this lie closer than so many steps, by a quarter or more; of
  /// months, business days and irregular steps nobody knows.
  bool are_closer(double span, std::size_t steps) const;
  /// Rows after which a day is over, or a week of days, or a year of months or weeks; 1 where no
  /// whole number of rows tells.
  std::size_t season() const;
  /// Whether it is one of months or business days.
  bool counts_dates() const { return unit_ != Unit::seconds; }
  /// "1 month", "1 business day", "15 minutes"
  std::string words() const;

 private:
  enum class Unit { seconds, months, business_days };
  bool is_monthly(const std::vector<double>& times);
  bool is_business_daily(const std::vector<double>& times);
  void set_seconds(const std::vector<double>& times);

  Unit unit_ = Unit::seconds;
  double step_ = 1;   ///< in this unit
  unsigned day_ = 1;  ///< of the month, where months are counted
  bool is_regular_ = false;
};

}  // namespace bochner
