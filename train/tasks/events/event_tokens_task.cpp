#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/events/event_tokens_learner.hpp>
#include <bochner/train/tasks/events/event_tokens_task.hpp>
#include <bochner/train/tasks/fit_time_scale.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/text/noise_counts.hpp>

namespace bochner {
namespace {

/// Trains a language model of events: it predicts the next type from the types and times so far.
class EventTokensTask : public Task {
 public:
  EventTokensTask(const Config& config, OpenedEvents events)
      : data_(std::move(events.data)), learner_(config, std::move(events.facts)) {
    fit_times(language_model(), language_model().time_scale(), learner_.spec().time,
              data_->batch(scale_examples(*data_)).times, config.count("train.seed"));
  }

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
  LanguageModel& language_model() { return learner_.language_model(); }

  std::unique_ptr<EventSource> data_;
  EventTokensLearner learner_;
};

std::unique_ptr<Task> open_event_tokens(const Config& config, const KnownFacts& known) {
  return std::make_unique<EventTokensTask>(config, open_events(config, known));
}

std::unique_ptr<Learner> event_tokens_learner(const Config& config, const KnownFacts& facts) {
  return std::make_unique<EventTokensLearner>(
      config, facts.bytes.empty() ? assumed_event_facts(config) : facts.of<EventFacts>());
}

}  // namespace

void add_event_token_kinds(TaskKinds& kinds) {
  kinds.push_back({.data = "hawkes",
                   .model = "lm",
                   .open = open_event_tokens,
                   .learn = event_tokens_learner,
                   .validation = validation_examples,
                   .read = series_options});
  kinds.push_back({.data = "event_files",
                   .model = "lm",
                   .open = open_event_tokens,
                   .learn = event_tokens_learner,
                   .validation = validation_fraction,
                   .check = check_labels,
                   .read = event_options});
}

}  // namespace bochner
