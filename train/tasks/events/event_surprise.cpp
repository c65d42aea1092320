#include <bochner/train/tasks/events/event_surprise.hpp>
#include <cmath>
#include <limits>

namespace bochner {

std::vector<double> event_surprises(EventModel& model, const EventSequences& events) {
  Tape tape({.recording = false});
  const Var weights = model.intensity_weights(tape, events.types, events.times, events.places);
  const Times spans =
      (model.poisson().clock_times(events.next_times) - model.poisson().clock_times(events.times)) /
      model.unit();
  const Var log_intensity = model.log_intensity(tape, weights, spans, events.next_times),
            expected = model.intensity().compensator(weights, spans);
  const std::size_t K = model.spec().types;
  std::vector<double> surprises;
  for (std::size_t i = 0; i < events.next_types.values.size(); ++i) {
    const real* each = log_intensity.data() + i * K;
    const std::int32_t type = events.next_types.values[i];
    double intensity = 0;
    for (std::size_t k = 0; k < K; ++k)
      if (std::size_t(type) >= K || k == std::size_t(type)) intensity += std::exp(double(each[k]));
    surprises.push_back(type < 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : double(expected.data()[i]) - std::log(intensity) +
                                       std::log(model.unit()));
  }
  return surprises;
}

}  // namespace bochner
