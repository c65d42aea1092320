#include <algorithm>
#include <bochner/base/shape.hpp>
#include <bochner/optim/schedule.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// A curve of the library: a function of the spec and the step.
template <double (*curve)(const Schedule&, const ScheduledStep&)>
class Curve : public LearningRateCurve {
 public:
  explicit Curve(const Schedule& schedule) : schedule_(schedule) {}
  double at(const ScheduledStep& now) const override { return curve(schedule_, now); }

 private:
  Schedule schedule_;
};

double constant(const Schedule&, const ScheduledStep& now) { return now.peak; }

double cosine(const Schedule& schedule, const ScheduledStep& now) {
  const double angle = std::numbers::pi * double(now.step - schedule.warmup) /
                       double(now.total_steps - schedule.warmup);
  return schedule.floor + (now.peak - schedule.floor) / 2 * (1 + std::cos(angle));
}

/// Returns a line from the peak at `start` to the floor.
double line(double floor, std::uint64_t start, const ScheduledStep& now) {
  if (now.step < start) return now.peak;
  return floor +
         (now.peak - floor) * double(now.total_steps - now.step) / double(now.total_steps - start);
}

double linear(const Schedule& schedule, const ScheduledStep& now) {
  return line(schedule.floor, schedule.warmup, now);
}

double exponential(const Schedule& schedule, const ScheduledStep& now) {
  require(schedule.floor > 0, "optim.schedule", "\"exponential\" needs a floor above 0");
  const double part =
      double(now.step - schedule.warmup) / double(now.total_steps - schedule.warmup);
  return now.peak * std::pow(schedule.floor / now.peak, part);
}

double inverse_sqrt(const Schedule& schedule, const ScheduledStep& now) {
  const double anchor = double(std::max<std::uint64_t>(schedule.warmup, 1));
  return std::max(schedule.floor, now.peak * std::sqrt(anchor / double(now.step + 1)));
}

double wsd(const Schedule& schedule, const ScheduledStep& now) {
  const std::uint64_t decay = std::min(schedule.decay, now.total_steps);
  return line(schedule.floor, std::max(schedule.warmup, now.total_steps - decay), now);
}

}  // namespace

Schedules& schedules() {
  static Schedules registry = [] {
    Schedules all("schedule", {});
    all.add("constant", make<Curve<constant>>, {.ends = false});
    all.add("cosine", make<Curve<cosine>>);
    all.add("linear", make<Curve<linear>>);
    all.add("exponential", make<Curve<exponential>>);
    all.add("inverse_sqrt", make<Curve<inverse_sqrt>>, {.ends = false});
    all.add("wsd", make<Curve<wsd>>);
    return std::move(all).built_in();
  }();
  return registry;
}

double learning_rate(const Schedule& schedule, double peak, std::uint64_t step,
                     std::uint64_t total_steps) {
  const auto curve = schedules().make(schedule.kind, schedule);
  const bool ends = schedules().traits(schedule.kind, schedule).ends;
  require(!ends || total_steps > 0, "optim.schedule", "\"", schedule.kind,
          "\" ends at the last step: give the number of steps, or choose constant or inverse_sqrt");
  if (step < schedule.warmup) return peak * double(step + 1) / double(schedule.warmup);
  if (ends && step >= total_steps) return schedule.floor;
  return curve->at({peak, step, total_steps});
}

}  // namespace bochner::inline BOCHNER_PRECISION
