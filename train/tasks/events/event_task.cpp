#include <fmt/format.h>

#include <algorithm>
#include <bochner/layers/module.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/encoding_pictures.hpp>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/events/event_report.hpp>
#include <bochner/train/tasks/fit_time_scale.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {
namespace {

/// Points of every gap at which intensities are compared.
constexpr std::size_t intensity_points = 4;

EventModelSpec event_model_spec(const Config& config, std::size_t types, std::size_t dimensions) {
  auto spec = read_spec<EventModelSpec>(config, "model");
  spec.types = types;
  spec.dimensions = dimensions;
  spec.encoding.space.seed = spec.encoding.time.seed = config.count("train.seed");
  spec.length = config.count("data.length");
  complete(spec.time.density, config);
  complete(spec.stack, config, spec.length);
  return spec;
}

EventSequences view(const EventBatch& batch) {
  return {batch.types, batch.next_types, batch.times, batch.next_times, batch.places};
}

/// Next events, of a simulated process judged beside what the process itself knows.
class EventTask : public Task {
 public:
  explicit EventTask(const Config& config)
      : data_(event_source(config, shape_)),
        columns_(event_columns(config)),
        spec_(event_model_spec(config, data_->types(), data_->dimensions())),
        model_(spec_) {
    initialize(model_, config.count("train.seed"));
    fit_times(model_, model_.scale(), spec_.time, data_->batch(scale_examples(*data_)).times,
              config.count("train.seed"));
    if (spec_.dimensions > 0)
      model_.place_scale().set(data_->reach().origin, data_->reach().extent, 1);
  }

  Module& model() override { return model_; }
  const Dataset& data() const override { return *data_; }
  Vocabularies names() const override { return names_in(shape_); }
  std::string loss_unit() const override { return "nats/event"; }

  Var loss(Tape& tape, const Examples& examples) override {
    const EventBatch batch = data_->batch(examples);
    return model_.loss(tape, view(batch));
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
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
    result.measures.push_back({"intensity_error", "error of the intensity",
                               events * error.difference / error.truth, true});
    return result;
  }

  NamedArrays arrays(const Examples& examples) override {
    const EventBatch batch = data_->batch(examples);
    Tape tape({.recording = false});
    const Var weights = model_.intensity_weights(tape, batch.types, batch.times, batch.places);
    NamedArrays all{{"types", array_of(batch.types)},
                    {"times", array_of(batch.times)},
                    {"next_types", array_of(batch.next_types)},
                    {"next_times", array_of(batch.next_times)},
                    {"outputs", array_of(weights.value())}};
    const Shape& shape = batch.types.shape;
    if (spec_.dimensions > 0)
      all.emplace_back("places", array_of(batch.places, {shape[0], shape[1], spec_.dimensions}));
    return all;
  }
  Json sizes() const override { return Json{{"length", spec_.length}}; }

  /// Rows of time and type, columns as in the training data -> what is expected after each: median
  /// and mean of the next time, and the probability of each type. Sequences are cut into windows of
  /// data.length events, as in training.
  NamedArray predict(const NamedArray& input) override {
    const std::size_t K = spec_.types;
    NamedArray numbered = input;
    number_texts(numbered, columns_, shape_, false);
    const std::vector<EventTable> windows =
        windows_of(event_tables(numbered, K, columns_), spec_.length);
    NamedArray result;
    result.columns = {"next_time_median", "next_time_mean"};
    if (input.time) result.more_times = {0, 1};  // dates, as they were read
    for (std::size_t k = 0; k < K; ++k)
      result.columns.push_back(numbered_name("type", shape_.types, k));
    result.values = xt::xarray<double>(std::vector<std::size_t>{input.values.shape()[0], 2 + K});
    for (const EventTable& events : windows) {
      const EventForecast forecast =
          forecast_events(model_, events.types, events.times, events.places);
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

  void illustrate(Page& page) override {
    constexpr std::size_t nodes = 12;  // along each axis
    if (data_->examples().validation > 0) add_intensities(page, model_, *data_);
    if (spec_.dimensions > 0) add_encoding(page, model_, even_grid(spec_.dimensions, nodes));
  }

  std::string describe_model() const override {
    const std::string place =
        spec_.dimensions == 0 ? "" : fmt::format(", place {}", spec_.encoding.kind);
    return fmt::format("events, {}, positions {}, time {}{}", describe_stack(spec_.stack),
                       spec_.stack.positions, describe_time(spec_.time), place);
  }

 private:
  TableShape shape_;  // of the files
  std::unique_ptr<EventSource> data_;
  EventColumns columns_;
  EventModelSpec spec_;
  EventModel model_;
};

}  // namespace

std::unique_ptr<Task> make_event_task(const Config& config) {
  return std::make_unique<EventTask>(config);
}

std::unique_ptr<Module> stand_in_for_events(const Config& config) {
  return std::make_unique<EventModel>(
      event_model_spec(config, 2, event_columns(config).places.size()));
}

}  // namespace bochner
