#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/models/event_forecast.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t quantiles = 64;
constexpr int bisections = 50;
/// In units of the model; the longest gap that is looked for.
constexpr double longest = 1e6;

/// The times s with compensator(s) = target after each event, in units of the model.
Times times_at(const Intensity& intensity, const Var& weights, const Times& like, double target) {
  Times low = like, high = like, middle = like;
  low.fill(0);
  high.fill(longest);
  for (int i = 0; i < bisections; ++i) {
    for (std::size_t t = 0; t < low.size(); ++t)  // first by magnitude, then by halves
      middle.data()[t] =
          low.data()[t] == 0 ? high.data()[t] / 16 : (low.data()[t] + high.data()[t]) / 2;
    const Var compensator = intensity.compensator(weights, middle);
    for (std::size_t t = 0; t < low.size(); ++t)
      (double(compensator.data()[t]) < target ? low : high).data()[t] = middle.data()[t];
  }
  return middle;
}

}  // namespace

EventForecast forecast_events(EventModel& model, const Indices& types, const Times& times) {
  Tape tape;
  tape.recording = false;
  const Var weights = model.outlook(tape, types, times);
  const Intensity& intensity = model.intensity();
  const std::size_t K = intensity.types(), n = times.size();
  EventForecast forecast{times, times, zeros({times.shape()[0], times.shape()[1], K})};
  for (std::size_t q = 0; q < quantiles; ++q) {
    const double survival = 1 - (double(q) + 0.5) / double(quantiles);
    const Times at = times_at(intensity, weights, times, -std::log(survival));
    const Var lambda = exp(intensity.log_intensity(weights, at));
    for (std::size_t i = 0; i < n; ++i) {
      forecast.mean.data()[i] += at.data()[i] * model.unit() / double(quantiles);
      real total = 0;
      for (std::size_t k = 0; k < K; ++k) total += lambda.data()[i * K + k];
      for (std::size_t k = 0; k < K; ++k)
        forecast.probabilities.data()[i * K + k] +=
            lambda.data()[i * K + k] / (total * real(quantiles));
    }
  }
  const Times median = times_at(intensity, weights, times, std::log(2.0));
  for (std::size_t i = 0; i < n; ++i) forecast.median.data()[i] += median.data()[i] * model.unit();
  return forecast;
}

}  // namespace bochner::inline BOCHNER_PRECISION
