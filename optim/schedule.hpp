#pragma once
/// The learning rate as a function of the step: nothing to save or restore.

#include <bochner/autodiff/real.hpp>
#include <bochner/base/keys.hpp>

namespace bochner::inline BOCHNER_PRECISION {

enum class ScheduleKind { constant, cosine, linear, inverse_sqrt, wsd };
/// Returns the names in the order of the enumeration.
std::vector<std::string> schedule_kinds();
/// Parses "cosine" as ScheduleKind::cosine. Throws with the choices.
ScheduleKind schedule_kind(const std::string& name);

/// Every kind begins with a linear warm-up of `warmup` steps, peak * (step + 1) / warmup.
///   constant      the peak
///   cosine        half a cosine from the peak to the floor
///   linear        a line from the peak to the floor
///   inverse_sqrt  peak * sqrt(max(warmup, 1) / (step + 1)), not below the floor
///   wsd           the peak, then a line to the floor over the last `decay` steps
struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  std::uint64_t warmup = 0;
  double floor = 0;         ///< a learning rate, not a fraction
  std::uint64_t decay = 0;  ///< shortened if it overlaps the warm-up
};
inline void describe(Keys& keys, Schedule& schedule) {
  std::string kind = schedule_kinds()[std::size_t(schedule.kind)];
  keys("kind", kind, one_of(schedule_kinds), "learning rate over steps, after the warm-up");
  schedule.kind = schedule_kind(kind);
  keys("warmup", schedule.warmup, at_least(0), "steps of linear warm-up");
  keys.when("kind", {"wsd"})("decay", schedule.decay, at_least(0),
                             "steps of decay at the end; 0 stays at the peak");
  const KeyCondition decays = keys.is("kind", {"cosine", "linear", "inverse_sqrt"});
  keys.when(decays || (keys.is("kind", {"wsd"}) && keys.is_not("decay", {"0"})))(
      "floor", schedule.floor, at_least(0), "final learning rate");
}

/// Returns the learning rate of `step`, counted from 0; the floor is reached at total_steps and
/// kept. A warm-up may last the whole run. Throws if a kind that ends at total_steps is given 0.
double learning_rate(const Schedule& schedule, double peak, std::uint64_t step,
                     std::uint64_t total_steps);

}  // namespace bochner::inline BOCHNER_PRECISION
