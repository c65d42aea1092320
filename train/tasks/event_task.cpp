#include <fmt/format.h>

#include <algorithm>
#include <bochner/data/files/errors.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/layers/encodings/time_start.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/tasks/data_kinds.hpp>
#include <bochner/train/tasks/event_report.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/task.hpp>

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
  if (config.text("data.kind") == "hawkes") {
    auto spec = read_spec<HawkesSpec>(config, "data");
    spec.length = config.count("data.length");
    return std::make_unique<HawkesEvents>(spec, example_set(config));
  }
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

/// Cut into windows as those of the training.
std::vector<EventTable> windows_of(const std::vector<EventTable>& sequences, std::size_t length) {
  std::vector<EventTable> windows;
  for (const EventTable& events : sequences)
    for (std::size_t i = 0; i < events.rows.size(); ++i) {
      const std::size_t left = std::min(length, events.rows.size() - i);
      if (i % length == 0)
        windows.push_back({{{1, left}, {}}, Times(std::vector<std::size_t>{1, left}), {}});
      windows.back().types.values.push_back(events.types.values[i]);
      windows.back().times(0, i % length) = events.times(0, i);
      windows.back().rows.push_back(events.rows[i]);
    }
  return windows;
}

/// Next events, of a simulated process judged beside what the process itself knows.
class EventTask : public Task {
 public:
  explicit EventTask(const Config& config)
      : data_(event_source(config)),
        columns_(event_columns(config)),
        spec_(event_model_spec(config, data_->types())),
        model_(spec_) {
    initialize(model_, config.count("train.seed"));
    const std::uint64_t count = std::min(scale_sequences, data_->examples().train);
    const Times times = data_->batch(data_->training(0, std::size_t(count))).times;
    model_.scale().fit(times);
    if (spec_.time.density.start == "periodogram")
      start_time_encodings(model_, model_.scale().scaled(times), config.count("train.seed"));
  }

  Module& model() override { return model_; }
  const Dataset& data() const override { return *data_; }
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

  /// Rows of time and type, columns as in the training data -> what is expected after each: median
  /// and mean of the next time, and the probability of each type. Sequences are cut into windows of
  /// data.length events, as in training.
  NamedArray predict(const NamedArray& input) override {
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

  void illustrate(Page& page) override {
    if (data_->examples().validation > 0) add_intensities(page, model_, *data_);
  }

  std::string describe_model() const override {
    return fmt::format("events, {}, positions {}, time {}", describe_stack(spec_.stack),
                       spec_.stack.positions, describe_time(spec_.time));
  }

 private:
  std::unique_ptr<EventSource> data_;
  EventColumns columns_;
  EventModelSpec spec_;
  EventModel model_;
};

}  // namespace

std::unique_ptr<Task> make_event_task(const Config& config) {
  return std::make_unique<EventTask>(config);
}

}  // namespace bochner::inline BOCHNER_PRECISION
