#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/fit_time_scale.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/text/noise_counts.hpp>

namespace bochner {
namespace {

LanguageModelSpec timed_trunk(const Config& config, std::size_t types) {
  auto spec = read_spec<LanguageModelSpec>(config, "model");
  spec.timed = true;
  spec.vocabulary = types;
  spec.length = config.count("data.length");
  complete(spec.time.density, config);
  complete(spec, config, spec.length);
  complete_loss(spec, config);
  return spec;
}

/// A language model of events: the type of the next one, from the types and times of those so far.
class EventTokensTask : public Task {
 public:
  explicit EventTokensTask(const Config& config)
      : data_(event_source(config, shape_)),
        columns_(event_columns(config)),
        spec_(timed_trunk(config, data_->types())),
        model_(spec_) {
    initialize(model_, config.count("train.seed"));
    fit_times(model_, model_.time_scale(), spec_.time, data_->batch(scale_examples(*data_)).times,
              config.count("train.seed"));
  }

  Module& model() override { return model_; }
  const Dataset& data() const override { return *data_; }
  Vocabularies names() const override { return names_in(shape_); }

  void start() override {
    if (NoiseLoss* noise = model_.noise())
      count_targets(*noise, *data_, spec_.vocabulary,
                    [&](const Examples& examples) { return data_->batch(examples).next_types; });
  }

  Var loss(Tape& tape, const Examples& examples) override {
    const EventBatch batch = data_->batch(examples);
    return model_.loss(tape, batch.types, batch.next_types, batch.times);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const EventBatch batch = data_->batch(examples);
    return evaluate_answers(model_.logits(tape, batch.types, batch.times), batch.next_types);
  }

  NamedArrays arrays(const Examples& examples) override {
    const EventBatch batch = data_->batch(examples);
    Tape tape({.recording = false});
    return {{"tokens", array_of(batch.types)},
            {"times", array_of(batch.times)},
            {"targets", array_of(batch.next_types)},
            {"outputs", array_of(model_.logits(tape, batch.types, batch.times).value())}};
  }
  Json sizes() const override { return Json{{"length", spec_.length}}; }

  /// Rows of time and type, columns as in the training data -> the probability of each type of the
  /// event after each. Sequences are cut into windows of data.length events, as in training.
  NamedArray predict(const NamedArray& input) override {
    const std::size_t K = spec_.vocabulary;
    NamedArray numbered = input;
    number_texts(numbered, columns_, shape_, false);
    const std::vector<EventTable> windows =
        windows_of(event_tables(numbered, K, columns_), spec_.length);
    NamedArray result;
    for (std::size_t k = 0; k < K; ++k)
      result.columns.push_back(numbered_name("type", shape_.types, k));
    result.values.resize({input.values.shape()[0], K});
    for (const EventTable& events : windows) {
      Tape tape({.recording = false});
      const Var each = softmax(model_.logits(tape, events.types, events.times));
      for (std::size_t i = 0; i < events.rows.size(); ++i)
        std::copy_n(each.data() + i * K, K, result.values.data() + events.rows[i] * K);
    }
    return result;
  }

  std::string describe_model() const override {
    return fmt::format("lm, {}, positions {}, time {}", describe_stack(spec_), spec_.positions,
                       describe_time(spec_.time));
  }

 private:
  TableShape shape_;  // of the files
  std::unique_ptr<EventSource> data_;
  EventColumns columns_;
  LanguageModelSpec spec_;
  LanguageModel model_;
};

}  // namespace

std::unique_ptr<Task> make_event_tokens_task(const Config& config) {
  return std::make_unique<EventTokensTask>(config);
}

std::unique_ptr<Module> stand_in_for_event_tokens(const Config& config) {
  return std::make_unique<LanguageModel>(timed_trunk(config, 2));
}

}  // namespace bochner
