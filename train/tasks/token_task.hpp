#pragma once
#include <bochner/data/token_tasks.hpp>
#include <bochner/train/tasks/language_task.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The generated examples that a config describes.
ExampleSet example_set(const Config& config);
/// The task with questions that a config describes.
TokenTaskSpec token_task_spec(const Config& config);

/// A language model that answers the questions of generated sequences.
class TokenTask : public LanguageTask {
 public:
  explicit TokenTask(const Config& config);
  Evaluation evaluate(Tape& tape, const Examples& examples) override;
};

/// How many labels have the largest score of their row, the first among equals. (.., V), (..)
std::uint64_t right_answers(const Var& scores, const Indices& labels);
/// Loss over the labels that are not -1, and how many of them are right. logits (.., V), labels
/// (..)
Evaluation evaluate_answers(const Var& logits, const Indices& labels);

}  // namespace bochner::inline BOCHNER_PRECISION
