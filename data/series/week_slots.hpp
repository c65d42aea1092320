#pragma once
/// Recurring times of the week that have rows: opening hours, trading hours, weeks of six days.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bochner {

class WeekSlots {
 public:
  /// Derives the slots from times: a slot has rows in at least seven of ten weeks, others in one of
  /// ten at most. Nothing if all slots have rows or some are in between. With less than three
  /// weeks, finds only times of the day, if all days have them.
  static std::optional<WeekSlots> of(const std::vector<double>& times);
  double after(double time, std::size_t count) const;
  /// Returns the rows from one time to a later one. Days without rows are holidays, which do not
  /// count for up to a week.
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

}  // namespace bochner
