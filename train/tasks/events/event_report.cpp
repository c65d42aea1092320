#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/tasks/events/event_report.hpp>
#include <cmath>
#include <numbers>

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
Times learned_intensity(Tape& tape, EventModel& model, const Var& weights, const EventBatch& batch,
                        std::size_t points) {
  const std::size_t K = model.intensity().types(), B = batch.types.shape[0];
  const Times gaps = batch.next_times - batch.times;
  Times intensity(std::vector<std::size_t>{B, batch.types.shape[1], points, K});
  for (std::size_t point = 0; point < points; ++point) {
    const double part = (double(point) + 0.5) / double(points), unit = model.unit();
    const Times at = batch.times + gaps * part;
    Times spans = model.poisson().clock_times(at) - model.poisson().clock_times(batch.times);
    spans /= unit;
    const Var log_intensity = model.log_intensity(tape, weights, spans, at);
    for (std::size_t i = 0; i < gaps.size(); ++i)
      for (std::size_t k = 0; k < K; ++k)
        intensity.data()[(i * points + point) * K + k] =
            std::exp(double(log_intensity.data()[i * K + k])) / unit;
  }
  return intensity;
}

/// Waiting times of held-out events, and quantiles of what the model expects of each.
struct WaitingTimes {
  std::vector<double> observed, expected;              ///< (n), (n quantiles)
  std::vector<double> observed_hours, expected_hours;  ///< (24) events
};

WaitingTimes waiting_times(EventModel& model, const EventSource& data) {
  constexpr std::size_t quantiles = 32, most_events = 20000;  // times types
  WaitingTimes all{{}, {}, std::vector<double>(hours_of_day), std::vector<double>(hours_of_day)};
  const auto hour = [](double time) { return hour_of_week(time) % hours_of_day; };
  const std::uint64_t examples = data.examples(Split::validation);
  for (std::uint64_t i = 0; i < examples; ++i) {
    if (all.observed.size() * model.spec().types > most_events) break;
    const EventBatch batch = data.batch(data.in_order(Split::validation, i, 1));
    Tape tape({.recording = false});
    const Var weights = model.intensity_weights(tape, batch.types, batch.times, batch.places);
    const double shift = std::fmod(double(i + 1) * std::numbers::phi, 1);  // differs by example
    for (std::size_t q = 0; q <= quantiles; ++q) {
      const bool is_observed = q == quantiles;
      const Times at = is_observed ? batch.next_times
                                   : model.quantile_times(weights, batch.times,
                                                          (double(q) + shift) / double(quantiles));
      for (std::size_t t = 0; t < batch.times.size(); ++t) {
        if (batch.next_types.values[t] < 0) continue;
        (is_observed ? all.observed : all.expected).push_back(at.data()[t] - batch.times.data()[t]);
        (is_observed ? all.observed_hours : all.expected_hours)[hour(at.data()[t])] +=
            is_observed ? 1 : 1 / double(quantiles);
      }
    }
  }
  return all;
}

/// Returns the percentage of values in bins of equal ratios, from `low` to `high`.
Curve histogram(const std::vector<double>& values, double low, double high) {
  constexpr std::size_t bins = 24;
  std::vector<double> counts(bins);
  const double width = std::log(high / low) / double(bins);
  for (const double value : values)
    if (value >= low && value < high)
      counts[std::min(bins - 1, std::size_t(std::log(value / low) / width))] += 1;
  Curve curve;
  for (std::size_t i = 0; i < bins; ++i)
    curve.add(low * std::exp(width * (double(i) + 0.5)), 100 * counts[i] / double(values.size()));
  return curve;
}

std::string waiting_chart(const WaitingTimes& all, bool has_dates) {
  std::vector<double> positive = all.observed;
  std::erase_if(positive, [](double gap) { return gap <= 0; });
  if (positive.empty()) return "";
  const auto [low, high] = std::ranges::minmax(positive);
  Chart chart{.title = "time until the next event",
              .x = {has_dates ? "seconds" : "time", Scale::logarithmic},
              .y = {"% of events", Scale::linear, 0.0},
              .width = chart_width};
  chart.add("observed", histogram(all.observed, low, 1.001 * high), Mark::points, 1);
  chart.add("expected", histogram(all.expected, low, 1.001 * high), Mark::line, 0);
  return draw(chart);
}

std::string hours_chart(const WaitingTimes& all) {
  Chart chart{.title = "hour of the day of the next event",
              .x = {"hour (UTC)"},
              .y = {"events", Scale::linear, 0.0},
              .width = chart_width};
  Curve observed, expected;
  for (std::size_t h = 0; h < hours_of_day; ++h) {
    observed.add(double(h), all.observed_hours[h]);
    expected.add(double(h), all.expected_hours[h]);
  }
  chart.add("observed", std::move(observed), Mark::points, 1);
  chart.add("expected", std::move(expected), Mark::line, 0);
  return draw(chart);
}

}  // namespace

IntensityError intensity_error(EventModel& model, const Var& weights, const EventBatch& batch,
                               const Times& truth) {
  Tape tape({.recording = false});
  const Times learned = learned_intensity(tape, model, weights, batch, truth.shape()[2]);
  const std::size_t per_gap = truth.shape()[2] * truth.shape()[3];
  IntensityError error;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double gap = batch.next_times.data()[i / per_gap] - batch.times.data()[i / per_gap];
    error.difference += gap * std::abs(learned.data()[i] - truth.data()[i]);
    error.truth += gap * truth.data()[i];
  }
  return error;
}

void add_waiting_times(Page& page, EventModel& model, const EventSource& data) {
  const WaitingTimes all = waiting_times(model, data);
  std::vector<std::string> charts;
  if (std::string chart = waiting_chart(all, model.spec().has_dates); !chart.empty())
    charts.push_back(std::move(chart));
  if (model.spec().has_dates) charts.push_back(hours_chart(all));
  if (charts.empty()) return;
  page.section("Waiting times",
               "Held-out events, and what the model expects after each one before them.");
  page.charts(charts, card_width(chart_width));
}

void add_intensities(Page& page, EventModel& model, const EventSource& data) {
  const EventBatch batch = data.batch(data.in_order(Split::validation, 0, 1));
  Tape tape({.recording = false});
  const Var weights = model.intensity_weights(tape, batch.types, batch.times, batch.places);
  const Times learned = learned_intensity(tape, model, weights, batch, points_of_gap);
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
