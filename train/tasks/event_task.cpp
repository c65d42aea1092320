#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/data/event_files.hpp>
#include <bochner/data/files/errors.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/layers/models/event_model.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/tasks/event_report.hpp>
#include <bochner/train/tasks/event_task.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/table_options.hpp>
#include <bochner/train/tasks/token_task.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Points of every gap at which intensities are compared.
constexpr std::size_t intensity_points = 4;
/// Sequences from which origin and unit of time are taken.
constexpr std::uint64_t scale_sequences = 64;

std::vector<EventTable> read_events(const Config& config) {
  std::vector<EventTable> sequences;
  for (const auto& file :
       expand_files(config.text_list("data.files"), std::filesystem::current_path())) {
    const NamedArray array = read_array(file, table_options(config));
    try {
      for (EventTable& events : event_tables(array, most_event_types, event_columns(config)))
        sequences.push_back(std::move(events));
    } catch (const DataError& error) {
      throw DataError(file.string() + ": " + error.what());
    }
  }
  return sequences;
}

std::unique_ptr<EventSource> event_source(const Config& config) {
  if (config.text("data.kind") == "hawkes")
    return std::make_unique<HawkesEvents>(hawkes_spec(config), example_set(config));
  const EventFilesSpec spec{config.count("data.length"), config.number("data.validation"),
                            config.count("train.seed")};
  return std::make_unique<EventFiles>(read_events(config), spec);
}

EventModelSpec event_model_spec(const Config& config, std::size_t types) {
  auto spec = read_spec<EventModelSpec>(config, "model");
  spec.types = types;
  spec.length = config.count("data.length");
  complete(spec.time.density, config);
  complete(spec.stack, config, spec.length);
  return spec;
}

EventSequences view(const EventBatch& batch) {
  return {batch.types, batch.next_types, batch.times, batch.next_times};
}

/// Events begin, ..., end - 1 of a sequence.
EventTable part_of(const EventTable& events, std::size_t begin, std::size_t end) {
  const std::size_t n = end - begin;
  EventTable part{{{1, n}, {}}, Times(std::vector<std::size_t>{1, n}), {}};
  for (std::size_t i = begin; i < end; ++i) {
    part.types.values.push_back(events.types.values[i]);
    part.times(0, i - begin) = events.times(0, i);
    part.rows.push_back(events.rows[i]);
  }
  return part;
}

/// Cut into windows as those of the training.
std::vector<EventTable> windows_of(const std::vector<EventTable>& sequences, std::size_t length) {
  std::vector<EventTable> windows;
  for (const EventTable& events : sequences)
    for (std::size_t begin = 0; begin < events.rows.size(); begin += length)
      windows.push_back(part_of(events, begin, std::min(begin + length, events.rows.size())));
  return windows;
}

}  // namespace

TimeEncodingSpec time_encoding_spec(const Config& config) {
  auto spec = read_spec<TimeEncodingSpec>(config, "model.time");
  complete(spec.density, config);
  return spec;
}

HawkesSpec hawkes_spec(const Config& config) {
  auto spec = read_spec<HawkesSpec>(config, "data");
  spec.length = config.count("data.length");
  return spec;
}

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

EventTask::EventTask(const Config& config)
    : data_(event_source(config)),
      columns_(event_columns(config)),
      spec_(event_model_spec(config, data_->types())),
      model_(spec_) {
  initialize(model_, config.count("train.seed"));
  const std::uint64_t count = std::min(scale_sequences, data_->examples().train);
  model_.scale().fit(data_->batch(data_->training(0, std::size_t(count))).times);
}

Var EventTask::loss(Tape& tape, const Examples& examples) {
  const EventBatch batch = data_->batch(examples);
  return model_.loss(tape, view(batch));
}

Evaluation EventTask::evaluate(Tape& tape, const Examples& examples) {
  const EventBatch batch = data_->batch(examples);
  const EventModel::Nats nats = model_.nats(tape, view(batch));
  const auto& next = batch.next_types.values;
  const double events = double(next.size()) - double(std::count(next.begin(), next.end(), -1));
  const double time = double(nats.time.data()[0]), type = double(nats.type.data()[0]);
  const double right = double(right_answers(nats.log_intensity, batch.next_types));
  Evaluation result{(time + type) * events,
                    std::uint64_t(events),
                    loss_unit(),
                    {{"time_nats", "of the time", time * events},
                     {"type_nats", "of the type", type * events},
                     {"accuracy", "of the types right", right, true}}};
  if (!data_->truth()) return result;
  const EventTruth truth = event_truth(*data_->truth(), batch, intensity_points);
  const IntensityError error = intensity_error(model_, nats.weights, batch, truth.intensity);
  result.measures.push_back(
      {"true_nats", "by the true process", truth.time_nats + truth.type_nats});
  result.measures.push_back(
      {"intensity_error", "error of the intensity", events * error.difference / error.truth, true});
  return result;
}

NamedArray EventTask::predict(const NamedArray& input) {
  const std::size_t K = spec_.types;
  const std::vector<EventTable> windows =
      windows_of(event_tables(input, K, columns_), spec_.length);
  NamedArray result;
  result.columns = {"next_time_median", "next_time_mean"};
  for (std::size_t k = 0; k < K; ++k) result.columns.push_back(fmt::format("type_{}", k));
  result.values = xt::xarray<double>(std::vector<std::size_t>{input.values.shape()[0], 2 + K});
  for (const EventTable& events : windows) {
    const EventForecast forecast = forecast_events(model_, events.types, events.times);
    for (std::size_t i = 0; i < events.rows.size(); ++i) {
      const std::size_t row = events.rows[i];
      result.values(row, 0) = forecast.median(0, i);
      result.values(row, 1) = forecast.mean(0, i);
      for (std::size_t k = 0; k < K; ++k)
        result.values(row, 2 + k) = double(forecast.probabilities(0, i, k));
    }
  }
  return result;
}

void EventTask::illustrate(Page& page) {
  if (data_->examples().validation == 0) return;
  constexpr std::size_t points = 8;
  const EventBatch batch = data_->batch(data_->in_order(Split::validation, 0, 1));
  Tape tape;
  tape.recording = false;
  const Var weights = model_.outlook(tape, batch.types, batch.times);
  IntensityPicture picture{batch, learned_intensity(model_, weights, batch, points), {}};
  if (data_->truth()) picture.truth = event_truth(*data_->truth(), batch, points).intensity;
  add_intensities(page, picture);
}

std::string EventTask::describe_model() const {
  const std::string time =
      spec_.time.kind == "none" ? "none" : fmt::format("{} ({})", spec_.time.kind, spec_.time.use);
  return fmt::format("events, {}, positions {}, time {}", describe_stack(spec_.stack),
                     spec_.stack.positions, time);
}

}  // namespace bochner::inline BOCHNER_PRECISION
