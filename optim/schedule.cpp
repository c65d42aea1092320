#include <algorithm>
#include <bochner/base/shape.hpp>
#include <bochner/optim/schedule.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {

std::vector<std::string> schedule_kinds() {
  return {"constant", "cosine", "linear", "inverse_sqrt", "wsd"};
}

ScheduleKind schedule_kind(const std::string& name) {
  const std::vector<std::string> kinds = schedule_kinds();
  const auto found = std::find(kinds.begin(), kinds.end(), name);
  require(found != kinds.end(), "optim.schedule", "no kind \"", name,
          "\"; choose constant, cosine, linear, inverse_sqrt or wsd");
  return ScheduleKind(found - kinds.begin());
}

double learning_rate(const Schedule& schedule, double peak, std::uint64_t step,
                     std::uint64_t total_steps) {
  const auto [kind, warmup, floor, decay] = schedule;
  const bool ends = kind != ScheduleKind::constant && kind != ScheduleKind::inverse_sqrt;
  require(!ends || total_steps > 0, "optim.schedule",
          "this kind ends at the last step: give the number of steps, or choose constant or "
          "inverse_sqrt");
  if (step < warmup) return peak * double(step + 1) / double(warmup);
  if (kind == ScheduleKind::constant) return peak;
  if (kind == ScheduleKind::inverse_sqrt) {
    const double anchor = double(std::max<std::uint64_t>(warmup, 1));
    return std::max(floor, peak * std::sqrt(anchor / double(step + 1)));
  }
  if (step >= total_steps) return floor;
  if (kind == ScheduleKind::cosine) {
    const double angle = std::numbers::pi * double(step - warmup) / double(total_steps - warmup);
    return floor + (peak - floor) / 2 * (1 + std::cos(angle));
  }
  std::uint64_t start = warmup;
  if (kind == ScheduleKind::wsd)
    start = std::max(warmup, total_steps - std::min(decay, total_steps));
  if (step < start) return peak;
  return floor + (peak - floor) * double(total_steps - step) / double(total_steps - start);
}

}  // namespace bochner::inline BOCHNER_PRECISION
