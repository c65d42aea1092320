#pragma once
/// Poisson process of events whose rate depends on the hour of the week: the simplest model of
/// events, and the clock of others.

#include <array>
#include <bochner/base/shape.hpp>
#include <bochner/base/time_array.hpp>
#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

inline constexpr std::size_t hours_of_day = 24, days_of_week = 7, hours_of_week = 168;
inline constexpr double seconds_of_hour = 3600;

/// Returns the hour of the week of a time in seconds since 1970 UTC: 0 is the first of a Thursday.
std::size_t hour_of_week(double time);

/// Clock that runs in proportion to a rate by hour of the week, whose mean is 1. A rate of its time
/// that is constant depends on the hour of the week by real time: the time change of Daley and
/// Vere-Jones, "An introduction to the theory of point processes", 2003, section 7.4.
class WeekClock {
 public:
  /// rates: (168), above 0
  explicit WeekClock(const std::vector<double>& rates);
  double rate(double time) const { return rates_[hour_of_week(time)]; }
  /// Returns the integral of the rate from 1970 to a time in seconds.
  double at(double time) const;
  /// Returns the time with this integral.
  double time_at(double reading) const;

 private:
  std::vector<double> rates_, readings_;  // (168), (169) at the beginning of hours of a week
};

/// Gaps between events and their successors, of known types. (n) each
struct EventGaps {
  std::vector<double> from = {}, to = {};
  std::vector<std::int32_t> types = {};  ///< of the successors

  /// Adds those of a batch (B, T) whose next type is not -1.
  void add(const Times& times, const Times& next_times, const Indices& next_types);
};

/// Poisson process with types that are drawn independently. Kept in buffers.
class PoissonProcess : public Module {
 public:
  /// `weekly`: times are seconds since 1970, and the rate may depend on the hour of the week.
  PoissonProcess(std::size_t types, bool weekly);
  /// Fits rate and frequencies of types. The rate depends on the hour of the week if it then
  /// predicts every fifth gap better after a fit to the others; it is shrunk towards the product of
  /// the rates of the hour of the day and of the weekday, and these towards 1.
  void fit(const EventGaps& gaps);
  bool is_weekly() const { return weekly_; }
  /// Returns whether the rate depends on the hour of the week.
  bool has_season() const;
  WeekClock clock() const;
  /// Returns times of the clock; the same unless weekly. (..) -> (..)
  Times clock_times(const Times& times) const;
  /// Returns events per unit of time of the clock.
  double rate() const { return double(rate_.data()[0]); }
  /// Returns the frequency of a type.
  double frequency(std::size_t type) const { return double(types_.data()[type]); }
  /// Sums of -ln density of the next times and of -ln probability of their types.
  struct Nats {
    double time = 0, type = 0;
  };
  Nats nats(const EventGaps& gaps) const;
  void visit(Visitor& visitor) override;

 private:
  bool weekly_;
  Tensor week_, rate_, types_;  // (168) or none, (1), (K)
};

}  // namespace bochner::inline BOCHNER_PRECISION
