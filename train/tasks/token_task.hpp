#pragma once
#include <bochner/data/token_tasks.hpp>
#include <bochner/train/tasks/language_task.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The generated examples that a config describes.
ExampleSet example_set(const Config& config);
/// "  ·  10000 examples to train, 1000 to validate"
std::string describe_set(const ExampleSet& examples);
/// The task with questions that a config describes.
TokenTaskSpec token_task_spec(const Config& config);

/// A language model that answers the questions of generated sequences.
class TokenTask : public Task {
 public:
  explicit TokenTask(const Config& config);
  Module& model() override { return *model_; }
  std::uint64_t examples_per_epoch() const override { return data_.examples().train; }
  std::uint64_t tokens_per_example() const override { return data_.spec().length; }
  Var loss(Tape& tape, std::uint64_t first, std::size_t count) override;
  std::uint64_t validation_batches(std::size_t batch) const override {
    return data_.examples().validation_batches(batch);
  }
  Evaluation validate(Tape& tape, std::uint64_t index, std::size_t batch) override;
  std::uint64_t data_fingerprint() const override { return data_.fingerprint(); }
  std::string describe_model() const override { return "lm, " + describe_trunk(spec_); }
  std::string describe_data() const override;

 private:
  LanguageModelSpec spec_;
  TokenTasks data_;
  std::unique_ptr<LanguageModel> model_;
};

/// Loss over the labels that are not -1, and how many of them have the largest logit of their row,
/// the first among equals. logits (.., V), labels (..)
Evaluation evaluate_answers(const Var& logits, const Indices& labels);

}  // namespace bochner::inline BOCHNER_PRECISION
