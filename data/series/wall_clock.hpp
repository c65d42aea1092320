#pragma once
/// What clocks on the wall show where time stamps carry their offsets from UTC.

#include <utility>
#include <vector>

namespace bochner {

/// Offsets that stamps carry, from one change to the next; of stamps without any, UTC.
class WallClock {
 public:
  WallClock() = default;
  /// Times ascend, in seconds since 1970 UTC; offsets in seconds east of UTC. Both (rows), or no
  /// offsets.
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

}  // namespace bochner
