#pragma once
/// Language models of texts and of generated sequences, with the facts of their data.

#include <bochner/data/text/token_windows.hpp>
#include <bochner/data/text/tokenizer.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/learner.hpp>
#include <bochner/train/tasks/serialize.hpp>

namespace bochner {

template <class Archive>
void serialize(Archive& archive, Batch& batch) {
  serialize_indices(archive, batch.inputs);
  serialize_indices(archive, batch.targets);
}

struct TextFacts {
  static constexpr const char* kind = "text";
  std::uint64_t length = 256;   ///< tokens of a training window
  std::uint64_t tokenizer = 0;  ///< digest; 0 for bytes and for generated tokens
  std::vector<Batch> specimens = {};

  template <class Archive>
  void serialize(Archive& archive) {
    archive(length, tokenizer, specimens);
  }
  void check() const { require_size("tokens of a window", length, std::uint64_t(1) << 32); }
};

/// Predicts the next token. Throws DataError if the model was trained with another tokenizer than
/// that of the config.
class LanguageLearner : public Learner, public WritesText, public HasSpecimens {
 public:
  LanguageLearner(const Config& config, TextFacts facts);

  Module& model() override { return *model_; }
  std::string describe() const override;
  std::string facts() const override { return encode_facts(facts_); }
  Json sizes() const override;
  void illustrate(Page& page) override;
  std::uint64_t tokenizer_digest() const override { return facts_.tokenizer; }
  LearnerAbilities abilities() override;

  LanguageModel& language_model() override { return *model_; }
  const Tokenizer& tokenizer() const override { return *tokenizer_; }
  std::size_t window() const override { return facts_.length; }
  std::size_t positions() const override { return positions_; }

  std::size_t specimens() const override { return facts_.specimens.size(); }
  void forward_specimen(Tape& tape, std::size_t i) override;

  const LanguageModelSpec& spec() const { return spec_; }

 private:
  TextFacts facts_;
  bool writes_;  // whether tokens are text
  std::shared_ptr<const Tokenizer> tokenizer_;
  LanguageModelSpec spec_;
  std::size_t positions_;
  std::unique_ptr<LanguageModel> model_;
};

}  // namespace bochner
