#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/tasks/events/event_report.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::size_t most_types = 4, most_gaps = 40, points_of_gap = 8;

/// Returns the curve of one type from intensities (1, T, points, K) of one sequence, at the
/// midpoints of equal parts of every gap.
Curve curve_of(const EventBatch& batch, const Times& intensity, std::size_t type) {
  const std::size_t points = intensity.shape()[2];
  Curve curve;
  for (std::size_t t = 0; t < std::min(most_gaps, intensity.shape()[1]); ++t) {
    const double from = batch.times(0, t), to = batch.next_times(0, t);
    for (std::size_t i = 0; i < points; ++i) {
      curve.x.push_back(from + (to - from) * (double(i) + 0.5) / double(points));
      curve.y.push_back(intensity(0, t, i, type));
    }
  }
  return curve;
}

Curve events_of(const EventBatch& batch, std::size_t type) {
  Curve events;
  for (std::size_t t = 0; t < std::min(most_gaps, batch.times.shape()[1]); ++t) {
    if (std::size_t(batch.next_types.values[t]) != type) continue;
    events.x.push_back(batch.next_times(0, t));
    events.y.push_back(0);
  }
  return events;
}

std::string intensity_chart(const EventBatch& batch, const Times& learned,
                            const std::optional<Times>& truth, std::size_t type) {
  Chart chart{
      .title = fmt::format("type {}", type), .x = {"time"}, .y = {"intensity", Scale::linear, 0.0}};
  if (truth) chart.add("truth", curve_of(batch, *truth, type), Mark::dashed, 0);
  chart.add("learned", curve_of(batch, learned, type), Mark::line, 0);
  chart.add("events", events_of(batch, type), Mark::points, 1);
  return draw(chart);
}

/// Returns intensities (B, T, points, K) at the midpoints of equal parts of every gap, in 1 / time
/// of the data.
Times learned_intensity(const EventModel& model, const Var& weights, const EventBatch& batch,
                        std::size_t points) {
  const std::size_t K = model.intensity().types(), B = batch.types.shape[0];
  const Times gaps = batch.next_times - batch.times;
  Times intensity(std::vector<std::size_t>{B, batch.types.shape[1], points, K});
  for (std::size_t point = 0; point < points; ++point) {
    const double part = (double(point) + 0.5) / double(points), unit = model.unit();
    const Times spans = gaps * (part / unit);
    const Var log_intensity = model.intensity().log_intensity(weights, spans);
    for (std::size_t i = 0; i < gaps.size(); ++i)
      for (std::size_t k = 0; k < K; ++k)
        intensity.data()[(i * points + point) * K + k] =
            std::exp(double(log_intensity.data()[i * K + k])) / unit;
  }
  return intensity;
}

}  // namespace

IntensityError intensity_error(const EventModel& model, const Var& weights, const EventBatch& batch,
                               const Times& truth) {
  const Times learned = learned_intensity(model, weights, batch, truth.shape()[2]);
  const std::size_t per_gap = truth.shape()[2] * truth.shape()[3];
  IntensityError error;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double gap = batch.next_times.data()[i / per_gap] - batch.times.data()[i / per_gap];
    error.difference += gap * std::abs(learned.data()[i] - truth.data()[i]);
    error.truth += gap * truth.data()[i];
  }
  return error;
}

void add_intensities(Page& page, EventModel& model, const EventSource& data) {
  const EventBatch batch = data.batch(data.in_order(Split::validation, 0, 1));
  Tape tape({.recording = false});
  const Var weights = model.intensity_weights(tape, batch.types, batch.times, batch.places);
  const Times learned = learned_intensity(model, weights, batch, points_of_gap);
  std::optional<Times> truth;
  if (data.truth()) truth = event_truth(*data.truth(), batch, points_of_gap).intensity;
  std::vector<std::string> charts;
  for (std::size_t k = 0; k < std::min(most_types, learned.shape()[3]); ++k)
    charts.push_back(intensity_chart(batch, learned, truth, k));
  page.section("Intensities",
               std::string("The first validation example: the intensity that the model predicts "
                           "from the events before each time") +
                   (truth ? ", and that of the process that generated them." : "."));
  page.charts(charts);
}

}  // namespace bochner
