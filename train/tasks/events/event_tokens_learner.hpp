#pragma once
/// Language models of events at their times, with the facts of their data.

#include <bochner/layers/models/token_models.hpp>
#include <bochner/train/tasks/events/event_facts.hpp>
#include <bochner/train/tasks/learner.hpp>

namespace bochner {

class EventTokensLearner : public Learner, public AnswersTables, public HasSpecimens {
 public:
  EventTokensLearner(const Config& config, EventFacts facts);

  Module& model() override { return model_; }
  std::string describe() const override;
  std::string facts() const override { return encode_facts(facts_); }
  Json sizes() const override;
  LearnerAbilities abilities() override { return {.tables = this, .specimens = this}; }

  ReadOptions read_options() const override { return reading_; }
  /// Returns the probability of each type of the next event, after each row of a table with the
  /// columns of the training data. Sequences are cut into windows as in training.
  NamedArray predict(const NamedArray& question) override;

  std::size_t specimens() const override { return facts_.specimens.size(); }
  void forward_specimen(Tape& tape, std::size_t i) override;

  LanguageModel& language_model() { return model_; }
  const LanguageModelSpec& spec() const { return spec_; }

 private:
  EventFacts facts_;
  ReadOptions reading_;
  EventColumns columns_;
  LanguageModelSpec spec_;
  LanguageModel model_;
};

}  // namespace bochner
