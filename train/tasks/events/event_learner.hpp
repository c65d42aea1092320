#pragma once
/// Models of the type and time of the next event, with the facts of their data.

#include <bochner/layers/models/event_model.hpp>
#include <bochner/train/tasks/events/event_facts.hpp>
#include <bochner/train/tasks/learner.hpp>

namespace bochner {

/// Returns the input of the model for a batch, valid as long as the batch.
EventSequences view(const EventBatch& batch);

class EventLearner : public Learner, public AnswersTables, public HasSpecimens {
 public:
  EventLearner(const Config& config, EventFacts facts);

  Module& model() override { return model_; }
  std::string describe() const override;
  std::string facts() const override { return encode_facts(facts_); }
  std::string loss_unit() const override { return "nats/event"; }
  Json sizes() const override;
  void illustrate(Page& page) override;
  LearnerAbilities abilities() override { return {.tables = this, .specimens = this}; }

  ReadOptions read_options() const override { return reading_; }
  /// Returns median and mean of the next time and the probability of each type, after each row of a
  /// table with the columns of the training data. Sequences are cut into windows as in training.
  NamedArray predict(const NamedArray& question) override;

  std::size_t specimens() const override { return facts_.specimens.size(); }
  void forward_specimen(Tape& tape, std::size_t i) override;

  EventModel& event_model() { return model_; }
  const EventModelSpec& spec() const { return model_.spec(); }

 private:
  EventFacts facts_;
  ReadOptions reading_;
  EventColumns columns_;
  EventModel model_;
};

}  // namespace bochner
