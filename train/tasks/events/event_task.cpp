#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/numeric/conformal.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/conformal/calibration.hpp>
#include <bochner/train/tasks/encoding_checks.hpp>
#include <bochner/train/tasks/encoding_pictures.hpp>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/events/event_report.hpp>
#include <bochner/train/tasks/events/event_surprise.hpp>
#include <bochner/train/tasks/init_from_data.hpp>
#include <bochner/train/tasks/series/row_forecasts.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/table_learner.hpp>
#include <bochner/train/tasks/task.hpp>
#include <cmath>

namespace bochner {
namespace {

/// Throws DataError if the config names another number of coordinates than the facts.
EventModelSpec event_model_spec(const Config& config, const EventFacts& facts) {
  if (const std::size_t named = assumed_event_facts(config).dimensions; named != facts.dimensions)
    throw DataError("data.place_columns names ", named, " coordinates; the model was trained on ",
                    facts.dimensions);
  auto spec = read_spec<EventModelSpec>(config, "model");
  spec.types = facts.types;
  spec.has_dates = facts.table.has_dates > 0;
  spec.dimensions = facts.dimensions;
  spec.encoding.space.seed = spec.encoding.time.seed = config.count("train.seed");
  spec.length = facts.length;
  complete(spec.time.density, config);
  complete(spec.stack, config, spec.length);
  return spec;
}

/// Writes median, mean and probabilities for each event. values: (rows, 2 + K)
void write_forecasts(EventModel& model, const EventTable& events, xt::xarray<double>& values) {
  const EventForecast forecast = forecast_events(model, events.types, events.times, events.places);
  for (std::size_t i = 0; i < events.rows.size(); ++i) {
    const std::size_t row = events.rows[i];
    values(row, 0) = forecast.median(0, i);
    values(row, 1) = forecast.mean(0, i);
    for (std::size_t k = 0; k < model.spec().types; ++k)
      values(row, 2 + k) = double(forecast.probabilities(0, i, k));
  }
}

/// Returns the input of the model for a batch, valid as long as the batch.
EventSequences view(const EventBatch& batch) {
  return {batch.types, batch.next_types, batch.times, batch.next_times, batch.places};
}

/// Predicts type and time of the next event.
class EventLearner : public TableLearner<EventFacts, EventModelSpec, EventModel>,
                     public UsesCalibration {
 public:
  EventLearner(const Config& config, EventFacts facts)
      : TableLearner(config, std::move(facts), event_model_spec), columns_(event_columns(config)) {}

  std::string describe() const override {
    const std::string place =
        spec_.dimensions == 0 ? "" : fmt::format(", place {}", spec_.encoding.kind);
    return fmt::format("events, {}, positions {}, time {}{}", describe_stack(spec_.stack),
                       spec_.stack.positions, describe_time(spec_.time), place);
  }
  std::string loss_unit() const override { return "nats/event"; }
  LearnerAbilities abilities() override {
    return {.tables = this, .specimens = this, .calibrated = this};
  }
  Json sizes() const override { return Json{{"length", facts_.length}}; }

  void illustrate(Page& page) override {
    constexpr std::size_t nodes = 12;  // along each axis
    if (facts_.dimensions > 0) add_encoding(page, model_, even_grid(facts_.dimensions, nodes));
  }

  /// Returns sequence and time of each row of a table with the columns of the training data, median
  /// and mean of the next time and the probability of each type. Sequences are cut into windows as
  /// in training. Events of unknown types count as others.
  NamedArray predict(const NamedArray& question) override {
    const std::vector<EventTable> windows =
        windows_of_table(question, columns_, facts_, NewTypes::other);
    count_others(windows);
    NamedArray result;
    result.columns = {"next_time_median", "next_time_mean"};
    for (std::string& name : type_columns(facts_)) result.columns.push_back(std::move(name));
    if (question.time) result.more_times = {0, 1};  // dates or numbers, like the input
    result.values = xt::xarray<double>(
        std::vector<std::size_t>{question.values.shape()[0], result.columns.size()});
    for (const EventTable& events : windows) write_forecasts(model_, events, result.values);
    return beside_events(question, columns_, result);
  }
  std::vector<std::string> notes() const override { return notes_; }

  void set_calibration(Calibration calibration) override { held_ = std::move(calibration); }
  /// Returns -ln density of each event given those before it in its window, and its p-value; none
  /// for the first event of a window.
  NamedArray anomalies(const NamedArray& question) override;

  void forward_specimen(Tape& tape, std::size_t i) override {
    model_.loss(tape, view(facts_.specimens[i]));
  }

 private:
  void count_others(const std::vector<EventTable>& windows) {
    std::size_t others = 0, events = 0;
    for (const EventTable& window : windows) {
      events += window.types.values.size();
      others += std::size_t(std::ranges::count(window.types.values, std::int32_t(facts_.types)));
    }
    notes_.clear();
    if (others > 0)
      notes_.push_back(fmt::format("unknown types count as others: {} of {}", others,
                                   format_number_of(events, "event")));
  }

  EventColumns columns_;
  Calibration held_;
  std::vector<std::string> notes_;
};

NamedArray EventLearner::anomalies(const NamedArray& question) {
  const std::vector<EventTable> windows =
      windows_of_table(question, columns_, facts_, NewTypes::other);
  count_others(windows);
  demand(!held_.scores.empty() && !held_.scores[0].empty(),
         "the run has no held-out events, which p-values need; train one with data.validation");
  const ConformalRanks ranks(held_.scores[0]);
  NamedArray result{xt::xarray<double>::from_shape({question.values.shape()[0], 2}),
                    {"score", "p"}};
  result.values.fill(std::numeric_limits<double>::quiet_NaN());
  for (const EventTable& events : windows) {
    Indices next_types = events.types;
    Times next_times = events.times;
    const std::size_t T = next_types.values.size();
    for (std::size_t i = 0; i < T; ++i) {
      next_types.values[i] = i + 1 < T ? events.types.values[i + 1] : -1;
      next_times(0, i) = events.times(0, std::min(i + 1, T - 1));
    }
    const std::vector<double> surprises = event_surprises(
        model_, {events.types, next_types, events.times, next_times, events.places});
    for (std::size_t i = 0; i + 1 < T; ++i) {
      result.values(events.rows[i + 1], 0) = surprises[i];
      result.values(events.rows[i + 1], 1) = ranks.p_value(surprises[i]);
    }
  }
  return beside_events(question, columns_, result);
}

constexpr std::size_t intensity_points = 4;  // of every gap, to compare intensities

/// Trains a model of next events; simulated ones are compared with the true process.
class EventTask : public Task, public Calibrates {
 public:
  EventTask(const Config& config, const KnownFacts& known)
      : EventTask(config, open_events(config, known)) {}

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return *data_; }
  TaskAbilities abilities() override { return {.calibrates = this}; }

  /// Returns -ln density of the events of up to 1,000 validation windows.
  Calibration calibrate() override {
    constexpr std::size_t most = 1000;
    Calibration calibration{.scores = {{}}};
    for (const std::size_t i : evenly_spaced(data_->examples(Split::validation), most)) {
      const EventBatch batch = data_->batch(data_->in_order(Split::validation, i, 1));
      for (const double surprise : event_surprises(learner_.model(), view(batch)))
        if (!std::isnan(surprise)) calibration.scores[0].push_back(surprise);
    }
    return calibration;
  }
  CoverageReport coverage(const Calibration&, Split, double, std::size_t) override {
    throw std::invalid_argument("--coverage applies to models of series and of classes");
  }

  void start() override {
    if (!data_->truth()) learner_.model().start_at_poisson();
  }

  Var loss(Tape& tape, const Examples& examples) override {
    const EventBatch batch = data_->batch(examples);
    return learner_.model().loss(tape, view(batch));
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const EventBatch batch = data_->batch(examples);
    const EventModel::Nats nats = learner_.model().nats(tape, view(batch));
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
    if (data_->truth())
      judge_by_truth(batch, nats.weights, result);
    else
      judge_by_poisson(batch, result);
    return result;
  }

  NamedArrays arrays(const Examples& examples) override {
    const EventBatch batch = data_->batch(examples);
    Tape tape({.recording = false});
    const Var weights =
        learner_.model().intensity_weights(tape, batch.types, batch.times, batch.places);
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

  Verdict verdict(const HeldOut& held) override {
    if (data_->truth() || held.taken(*data_).count == 0) return {};
    const Evaluation all = held.evaluate(*this);
    const bool has_types = learner_.spec().types > 1;
    Verdict verdict{
        .measure = "nats an event",
        .data = "held-out events",
        .score = all.loss(),
        .naive = {{fmt::format("a Poisson process {}{}",
                               learner_.model().poisson().has_season() ? "by hour of the week"
                                                                       : "of constant rate",
                               has_types ? " with the frequencies of the types" : ""),
                   all.mean("poisson_nats")}},
        .nats = true};
    if (has_types)
      verdict.remark =
          fmt::format("time {:.4f}, type {:.4f}", all.mean("time_nats"), all.mean("type_nats"));
    return verdict;
  }

  void illustrate(Page& page) override {
    if (data_->examples().validation == 0) return;
    if (!data_->truth()) add_waiting_times(page, learner_.model(), *data_);
    add_intensities(page, learner_.model(), *data_);
  }

 private:
  EventTask(const Config& config, OpenedEvents events)
      : data_(std::move(events.data)), learner_(config, std::move(events.facts)) {
    EventModel& model = learner_.model();
    if (!data_->truth()) fit_poisson();
    fit_times(model, model.scale(), model.spec().time,
              model.poisson().clock_times(data_->batch(scale_examples(*data_)).times),
              config.count("train.seed"));
    if (model.spec().dimensions > 0)
      model.place_scale().set(data_->reach().origin, data_->reach().extent, 1);
  }

  void fit_poisson() {
    EventGaps gaps;
    for (std::uint64_t i = 0; i < data_->examples(Split::train); ++i) {
      const EventBatch batch = data_->batch(data_->in_order(Split::train, i, 1));
      gaps.add(batch.times, batch.next_times, batch.next_types);
    }
    learner_.model().poisson().fit(gaps);
  }

  void judge_by_poisson(const EventBatch& batch, Evaluation& result) {
    EventGaps gaps;
    gaps.add(batch.times, batch.next_times, batch.next_types);
    const PoissonProcess::Nats nats = learner_.model().poisson().nats(gaps);
    result.measures.push_back({"poisson_nats", "by a Poisson process", nats.time + nats.type});
  }

  void judge_by_truth(const EventBatch& batch, const Var& weights, Evaluation& result) {
    const EventTruth truth = event_truth(*data_->truth(), batch, intensity_points);
    const IntensityError error = intensity_error(learner_.model(), weights, batch, truth.intensity);
    result.measures.push_back(
        {"true_nats", "by the true process", truth.time_nats + truth.type_nats});
    result.measures.push_back({"intensity_error", "error of the intensity",
                               double(result.terms) * error.difference / error.truth, true});
  }

  std::unique_ptr<EventSource> data_;
  EventLearner learner_;
};

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
dropout = {dropout}

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
)";

void add_event_kinds(TaskKinds& kinds) {
  const ModelRows add{kinds, "events", open_as<EventTask>,
                      learn_as<EventLearner, assumed_event_facts>};
  add("hawkes", validation_examples, nullptr, series_options);
  add("event_files", validation_fraction, check_event_files, event_options);
}

}  // namespace bochner
