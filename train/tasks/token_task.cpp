#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/train/tasks/token_task.hpp>

namespace bochner::inline BOCHNER_PRECISION {

ExampleSet example_set(const Config& config) {
  auto examples = read_spec<ExampleSet>(config, "data");
  examples.seed = config.count("train.seed");
  return examples;
}

std::string describe_set(const ExampleSet& examples) {
  return fmt::format("  ·  {} examples to train, {} to validate", examples.train,
                     examples.validation);
}

TokenTaskSpec token_task_spec(const Config& config) {
  auto spec = read_spec<TokenTaskSpec>(config, "data");
  spec.kind = config.text("data.kind");
  spec.length = config.count("data.length");
  return spec;
}

TokenTask::TokenTask(const Config& config)
    : spec_(language_model_spec(config)),
      data_(token_task_spec(config), example_set(config)),
      model_(make_language_model(config)) {}

Var TokenTask::loss(Tape& tape, std::uint64_t first, std::size_t count) {
  const Batch batch = data_.batch(first, count);
  return model_->loss(tape, batch.inputs, batch.targets);
}

Evaluation TokenTask::validate(Tape& tape, std::uint64_t index, std::size_t size) {
  const Batch batch = data_.validation_batch(index, size);
  return evaluate_answers(model_->logits(tape, batch.inputs), batch.targets);
}

std::string TokenTask::describe_data() const {
  return fmt::format("{}, {} tokens of {}{}", data_.spec().kind, data_.spec().length,
                     data_.spec().vocabulary, describe_set(data_.examples()));
}

Evaluation evaluate_answers(const Var& logits, const Indices& labels) {
  const double mean = double(cross_entropy(logits, labels).value().data()[0]);
  std::uint64_t asked = 0, right = 0;
  const std::size_t V = logits.dim(-1);
  for (std::size_t i = 0; i < labels.values.size(); ++i) {
    if (labels.values[i] < 0) continue;
    const real* row = logits.data() + i * V;
    ++asked;
    right += std::max_element(row, row + V) - row == labels.values[i];
  }
  return {mean * double(asked), asked, "nats", {{"accuracy", "right", double(right), true}}};
}

}  // namespace bochner::inline BOCHNER_PRECISION
