#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/init_from_data.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/table_learner.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {
namespace {

LanguageModelSpec timed_trunk(const Config& config, const EventFacts& facts) {
  auto spec = read_spec<LanguageModelSpec>(config, "model");
  spec.timed = true;
  spec.vocabulary = facts.types;
  spec.length = facts.length;
  complete(spec.time.density, config);
  complete(spec, config, spec.length);
  spec.loss = read_spec<LossSpec>(config, "model");
  return spec;
}

class EventTokensLearner : public TableLearner<EventFacts, LanguageModelSpec, LanguageModel> {
 public:
  EventTokensLearner(const Config& config, EventFacts facts)
      : TableLearner(config, std::move(facts), timed_trunk), columns_(event_columns(config)) {}

  std::string describe() const override {
    return fmt::format("lm, {}, positions {}, time {}", describe_stack(spec_), spec_.positions,
                       describe_time(spec_.time));
  }
  Json sizes() const override { return Json{{"length", spec_.length}}; }

  /// Returns the probability of each type of the next event, after each row of a table with the
  /// columns of the training data. Sequences are cut into windows as in training.
  NamedArray predict(const NamedArray& question) override {
    const std::size_t K = facts_.types;
    const std::vector<EventTable> windows = windows_of_table(question, columns_, facts_);
    NamedArray result{{}, type_columns(facts_)};
    result.values.resize({question.values.shape()[0], K});
    for (const EventTable& events : windows) {
      Tape tape({.recording = false});
      const Var each = softmax(model_.logits(tape, events.types, events.times));
      for (std::size_t i = 0; i < events.rows.size(); ++i)
        std::copy_n(each.data() + i * K, K, result.values.data() + events.rows[i] * K);
    }
    return beside_events(question, columns_, result);
  }

  void forward_specimen(Tape& tape, std::size_t i) override {
    const EventBatch& one = facts_.specimens[i];
    model_.loss(tape, one.types, one.next_types, one.times);
  }

 private:
  EventColumns columns_;
};

/// Trains a language model of events: it predicts the next type from the types and times so far.
class EventTokensTask : public Task {
 public:
  EventTokensTask(const Config& config, const KnownFacts& known)
      : EventTokensTask(config, open_events(config, known)) {}

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return *data_; }

  void start() override {
    if (NoiseLoss* noise = language_model().noise())
      count_targets(*noise, *data_, learner_.spec().vocabulary,
                    [&](const Examples& examples) { return data_->batch(examples).next_types; });
  }

  Var loss(Tape& tape, const Examples& examples) override {
    const EventBatch batch = data_->batch(examples);
    return language_model().loss(tape, batch.types, batch.next_types, batch.times);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const EventBatch batch = data_->batch(examples);
    return evaluate_answers(language_model().logits(tape, batch.types, batch.times),
                            batch.next_types);
  }

  NamedArrays arrays(const Examples& examples) override {
    const EventBatch batch = data_->batch(examples);
    Tape tape({.recording = false});
    return {{"tokens", array_of(batch.types)},
            {"times", array_of(batch.times)},
            {"targets", array_of(batch.next_types)},
            {"outputs", array_of(language_model().logits(tape, batch.types, batch.times).value())}};
  }

 private:
  EventTokensTask(const Config& config, OpenedEvents events)
      : data_(std::move(events.data)), learner_(config, std::move(events.facts)) {
    fit_times(language_model(), language_model().time_scale(), learner_.spec().time,
              data_->batch(scale_examples(*data_)).times, config.count("train.seed"));
  }
  LanguageModel& language_model() { return learner_.model(); }

  std::unique_ptr<EventSource> data_;
  EventTokensLearner learner_;
};

}  // namespace

void add_event_token_kinds(TaskKinds& kinds) {
  const ModelRows add{kinds, "lm", open_as<EventTokensTask>,
                      learn_as<EventTokensLearner, assumed_event_facts>};
  add("hawkes", validation_examples, nullptr, series_options);
  add("event_files", validation_fraction, check_labels, event_options);
}

}  // namespace bochner
