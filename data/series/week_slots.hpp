#pragma once
/// The times of the week at which rows stand that leave others out: opening hours, trading hours,
/// weeks of six days.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bochner {

/// Times of the week on a grid, and which of them have rows.
class WeekSlots {
 public:
  /// From all gaps of the rows: a time has rows in seven of ten weeks or more, or in one
  /// at most. Nothing where all times have rows or some are in between; of less than three weeks
  /// only times of the day are told, where all days have them.
  static std::optional<WeekSlots> of(const std::vector<double>& times);
  /// The time of the row so many rows on.
  double after(double time, std::size_t count) const;
  /// Rows from one to a later one. Days without any are holidays, which count nothing up to a week.
  std::size_t between(double earlier, double later) const;
  /// Rows of a day, or of a week where days differ or have one.
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
  /// Rows before a slot, counted from that of slot 0 on.
  std::int64_t rows_before(std::int64_t slot) const;

  double step_ = 1, phase_ = 0;     ///< slot 0 begins `phase_` behind a Monday
  std::vector<std::int64_t> rows_;  ///< before each slot of the week, and before its end
};

}  // namespace bochner
