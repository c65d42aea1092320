#pragma once
/// The learning rate as a function of the step: nothing to save, nothing to restore.

#include <cstdint>
#include <string>

namespace bochner {

enum class ScheduleKind { constant, cosine, linear, inverse_sqrt, wsd };

/// Every kind begins with a linear warm-up of `warmup` steps, peak * (step + 1) / warmup.
///   constant      the peak
///   cosine        half a cosine from the peak to the floor
///   linear        a line from the peak to the floor
///   inverse_sqrt  peak * sqrt(max(warmup, 1) / (step + 1)), not below the floor
///   wsd           warm-up, stable at the peak, then a line to the floor over the last `decay`
///   steps
struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  std::uint64_t warmup = 0;  ///< steps
  double floor = 0;          ///< a learning rate, not a fraction
  std::uint64_t decay = 0;   ///< steps, for wsd; cut where it would reach into the warm-up
};

/// "cosine" -> ScheduleKind::cosine. Throws with the choices.
ScheduleKind schedule_kind(const std::string& name);

/// Learning rate of `step`, counted from 0; the floor is reached at total_steps and kept. A warm-up
/// as long as the run never leaves it. Throws when a kind that ends at total_steps is given 0.
double learning_rate(const Schedule& schedule, double peak, std::uint64_t step,
                     std::uint64_t total_steps);

}  // namespace bochner
