#pragma once
#include <bochner/data/windows.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner::inline BOCHNER_PRECISION {

LanguageModelSpec language_model_spec(const Config& config);
/// The language model that a config describes, with initial weights from train.seed; throws as the
/// layers do.
std::unique_ptr<LanguageModel> make_language_model(const Config& config);

/// Next-byte prediction on windows of text files.
class LanguageTask : public Task {
 public:
  explicit LanguageTask(const Config& config);
  Module& model() override { return *model_; }
  const Dataset& data() const override { return *data_; }
  Var loss(Tape& tape, const Examples& examples) override;
  Evaluation evaluate(Tape& tape, const Examples& examples) override;
  std::string describe_model() const override { return "lm, " + describe_trunk(spec_); }

 protected:
  LanguageTask(const Config& config, std::unique_ptr<TokenSource> data);
  LanguageModelSpec spec_;
  std::unique_ptr<TokenSource> data_;
  std::unique_ptr<LanguageModel> model_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
