#pragma once
/// The learning rate as a function of the step: nothing to save or restore.

#include <bochner/autodiff/real.hpp>
#include <bochner/base/registry.hpp>

namespace bochner::inline BOCHNER_PRECISION {

class LearningRateCurve;
struct Schedule;
/// Properties of a kind of schedule.
struct ScheduleTraits {
  bool ends = true;  ///< depends on the number of steps, and stays at the floor after them
};
using Schedules = Registry<LearningRateCurve, Schedule, ScheduleTraits>;
/// Registry of schedules; add custom ones here.
Schedules& schedules();

/// Every kind begins with a linear warm-up of `warmup` steps, peak * (step + 1) / warmup.
///   constant      the peak
///   cosine        half a cosine from the peak to the floor
///   linear        a line from the peak to the floor
///   exponential   equal factors from the peak to the floor, which may be above it
///   inverse_sqrt  peak * sqrt(max(warmup, 1) / (step + 1)), not below the floor
///   wsd           the peak, then a line to the floor over the last `decay` steps
struct Schedule {
  std::string kind = "constant";
  std::uint64_t warmup = 0;
  double floor = 0;         ///< a learning rate, not a fraction
  std::uint64_t decay = 0;  ///< shortened if it overlaps the warm-up
  OwnSpecs own = {};        ///< specs of custom schedules
};
inline void describe(Keys& keys, Schedule& schedule) {
  keys("kind", schedule.kind, one_of(schedules), "learning rate over steps, after the warm-up");
  keys("warmup", schedule.warmup, at_least(0), "steps of linear warm-up");
  keys.when("kind", {"wsd"})("decay", schedule.decay, at_least(0),
                             "steps of decay at the end; 0 stays at the peak");
  const KeyCondition decays = keys.is("kind", {"cosine", "linear", "exponential", "inverse_sqrt"});
  keys.when(decays || (keys.is("kind", {"wsd"}) && keys.is_not("decay", {"0"})))(
      "floor", schedule.floor, at_least(0), "final learning rate");
  schedules().describe_own(keys, schedule.own);
}

/// A step after the warm-up, counted from 0.
struct ScheduledStep {
  double peak;
  std::uint64_t step, total_steps;  ///< step < total_steps if the schedule ends
};

/// What a schedule does after its warm-up.
class LearningRateCurve {
 public:
  virtual ~LearningRateCurve() = default;
  /// Returns the learning rate, a function of its arguments alone.
  virtual double at(const ScheduledStep& now) const = 0;
};

/// Returns the learning rate of `step`, counted from 0; the floor is reached at total_steps and
/// kept. A warm-up may last the whole run. Throws if a kind that ends at total_steps is given 0.
double learning_rate(const Schedule& schedule, double peak, std::uint64_t step,
                     std::uint64_t total_steps);

}  // namespace bochner::inline BOCHNER_PRECISION
