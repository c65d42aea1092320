#include <algorithm>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/train/tasks/token_task.hpp>

namespace bochner::inline BOCHNER_PRECISION {

ExampleSet example_set(const Config& config) {
  auto examples = read_spec<ExampleSet>(config, "data");
  examples.seed = config.count("train.seed");
  return examples;
}

TokenTaskSpec token_task_spec(const Config& config) {
  auto spec = read_spec<TokenTaskSpec>(config, "data");
  spec.kind = config.text("data.kind");
  spec.length = config.count("data.length");
  return spec;
}

TokenTask::TokenTask(const Config& config)
    : LanguageTask(config,
                   std::make_unique<TokenTasks>(token_task_spec(config), example_set(config))) {}

Evaluation TokenTask::evaluate(Tape& tape, const Examples& examples) {
  const Batch batch = data_->batch(examples);
  return evaluate_answers(model_->logits(tape, batch.inputs), batch.targets);
}

std::uint64_t right_answers(const Var& scores, const Indices& labels) {
  const std::size_t V = scores.dim(-1);
  std::uint64_t right = 0;
  for (std::size_t i = 0; i < labels.values.size(); ++i) {
    if (labels.values[i] < 0) continue;
    const real* row = scores.data() + i * V;
    right += std::max_element(row, row + V) - row == labels.values[i];
  }
  return right;
}

Evaluation evaluate_answers(const Var& logits, const Indices& labels) {
  const double mean = double(cross_entropy(logits, labels).value().data()[0]);
  const std::vector<std::int32_t>& all = labels.values;
  const auto asked = all.size() - std::uint64_t(std::count(all.begin(), all.end(), -1));
  const double right = double(right_answers(logits, labels));
  return {mean * double(asked), asked, "nats", {{"accuracy", "right", right, true}}};
}

}  // namespace bochner::inline BOCHNER_PRECISION
