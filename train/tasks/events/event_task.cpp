#include <algorithm>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/encoding_checks.hpp>
#include <bochner/train/tasks/events/event_learner.hpp>
#include <bochner/train/tasks/events/event_report.hpp>
#include <bochner/train/tasks/events/event_tokens_task.hpp>
#include <bochner/train/tasks/fit_time_scale.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {
namespace {

constexpr std::size_t intensity_points = 4;  // of every gap, to compare intensities

/// Trains a model of next events; simulated ones are compared with the true process.
class EventTask : public Task {
 public:
  EventTask(const Config& config, OpenedEvents events)
      : data_(std::move(events.data)), learner_(config, std::move(events.facts)) {
    EventModel& model = learner_.event_model();
    fit_times(model, model.scale(), model.spec().time, data_->batch(scale_examples(*data_)).times,
              config.count("train.seed"));
    if (model.spec().dimensions > 0)
      model.place_scale().set(data_->reach().origin, data_->reach().extent, 1);
  }

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return *data_; }

  Var loss(Tape& tape, const Examples& examples) override {
    const EventBatch batch = data_->batch(examples);
    return learner_.event_model().loss(tape, view(batch));
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const EventBatch batch = data_->batch(examples);
    const EventModel::Nats nats = learner_.event_model().nats(tape, view(batch));
    const auto& next = batch.next_types.values;
    const double events = double(next.size()) - double(std::count(next.begin(), next.end(), -1));
    const double time = double(nats.time.data()[0]), type = double(nats.type.data()[0]);
    const double right = double(right_answers(nats.log_intensity, batch.next_types));
    Evaluation result{(time + type) * events,
                      std::uint64_t(events),
                      learner_.loss_unit(),
                      {{"time_nats", "of the time", time * events},
                       {"type_nats", "of the type", type * events},
                       {"accuracy", "of the types right", right, true}}};
    if (data_->truth()) judge_by_truth(batch, nats.weights, result);
    return result;
  }

  NamedArrays arrays(const Examples& examples) override {
    const EventBatch batch = data_->batch(examples);
    Tape tape({.recording = false});
    const Var weights =
        learner_.event_model().intensity_weights(tape, batch.types, batch.times, batch.places);
    NamedArrays all{{"types", array_of(batch.types)},
                    {"times", array_of(batch.times)},
                    {"next_types", array_of(batch.next_types)},
                    {"next_times", array_of(batch.next_times)},
                    {"outputs", array_of(weights.value())}};
    const Shape& shape = batch.types.shape;
    if (const std::size_t d = learner_.spec().dimensions; d > 0)
      all.emplace_back("places", array_of(batch.places, {shape[0], shape[1], d}));
    return all;
  }

  void illustrate(Page& page) override {
    if (data_->examples().validation > 0) add_intensities(page, learner_.event_model(), *data_);
  }

 private:
  void judge_by_truth(const EventBatch& batch, const Var& weights, Evaluation& result) {
    const EventTruth truth = event_truth(*data_->truth(), batch, intensity_points);
    const IntensityError error =
        intensity_error(learner_.event_model(), weights, batch, truth.intensity);
    result.measures.push_back(
        {"true_nats", "by the true process", truth.time_nats + truth.type_nats});
    result.measures.push_back({"intensity_error", "error of the intensity",
                               double(result.terms) * error.difference / error.truth, true});
  }

  std::unique_ptr<EventSource> data_;
  EventLearner learner_;
};

std::unique_ptr<Task> open_event_task(const Config& config, const KnownFacts& known) {
  return std::make_unique<EventTask>(config, open_events(config, known));
}

std::unique_ptr<Learner> event_learner(const Config& config, const KnownFacts& facts) {
  return std::make_unique<EventLearner>(
      config, facts.bytes.empty() ? assumed_event_facts(config) : facts.of<EventFacts>());
}

void check_event_files(const Config& config) {
  check_labels(config);
  const std::size_t dimensions = config.text_list("data.place_columns").size();
  if (dimensions == 0) return;
  if (dimensions > 3)
    fail(config, "data.place_columns", "must name at most three columns of coordinates");
  if (config.text("model.encoding.kind") == "none")
    fail(config, "data.place_columns", "needs model.encoding.kind other than \"none\"");
  check_encoding(config, std::int64_t(dimensions));
}

}  // namespace

const char events_template[] = R"(# Time and type of the next event. See docs/time.md.

[model]
kind = "events"
blocks = 2
width = 32
positions = "none"
dropout = 0.1

[model.time]
kind = "free"                 # learned frequencies
use = "rotate"                # turn queries and keys by real time

[model.mixer]
kind = "softmax"
heads = 4

[data]
kind = "event_files"
files = [{files}]
{columns}length = {length}                   # events of a window
validation = 0.1              # of the sequences, or the end of a single one

[optim]
lr = 3e-3
weight_decay = 0.1
schedule.kind = "cosine"
schedule.warmup = {warmup}
clip = 1.0

[train]
batch = 16
steps = {steps}
validate.every = {validate}
)";

void add_event_kinds(TaskKinds& kinds) {
  kinds.push_back({.data = "hawkes",
                   .model = "events",
                   .open = open_event_task,
                   .learn = event_learner,
                   .validation = validation_examples,
                   .read = series_options});
  kinds.push_back({.data = "event_files",
                   .model = "events",
                   .open = open_event_task,
                   .learn = event_learner,
                   .validation = validation_fraction,
                   .check = check_event_files,
                   .read = event_options});
  add_event_token_kinds(kinds);
}

}  // namespace bochner
