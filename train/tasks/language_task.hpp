#pragma once
#include <bochner/data/windows.hpp>
#include <bochner/layers/models/language_model.hpp>
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
  std::uint64_t examples_per_epoch() const override { return windows_.examples_per_epoch(); }
  std::uint64_t tokens_per_example() const override { return windows_.length(); }
  Var loss(Tape& tape, std::uint64_t first, std::size_t count) override;
  std::uint64_t validation_batches(std::size_t batch) const override {
    return windows_.validation_batches(batch);
  }
  Evaluation validate(Tape& tape, std::uint64_t index, std::size_t batch) override;
  std::uint64_t data_fingerprint() const override { return windows_.corpus().fingerprint(); }
  std::string describe_model() const override { return "lm, " + describe_trunk(spec_); }
  std::string describe_data() const override;

 private:
  LanguageModelSpec spec_;
  ByteWindows windows_;
  std::unique_ptr<LanguageModel> model_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
