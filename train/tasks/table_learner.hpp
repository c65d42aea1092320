#pragma once
#include <bochner/layers/module.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/learner.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {

/// A learner of tables: facts with specimens, and a model that is made from a spec.
template <class Facts, class Spec, class Model>
class TableLearner : public Learner, public AnswersTables, public HasSpecimens {
 public:
  Model& model() override { return model_; }
  std::string facts() const override { return encode_facts(facts_); }
  LearnerAbilities abilities() override { return {.tables = this, .specimens = this}; }
  ReadOptions read_options() const override { return reading_; }
  std::size_t specimens() const override { return facts_.specimens.size(); }
  const Spec& spec() const { return spec_; }

 protected:
  /// Initialises a model of make_spec(config, facts).
  template <class MakeSpec>
  TableLearner(const Config& config, Facts facts, const MakeSpec& make_spec)
      : facts_(std::move(facts)),
        reading_(table_options(config)),
        spec_(make_spec(config, facts_)),
        model_(spec_) {
    initialize(model_, config.count("train.seed"));
  }

  Facts facts_;
  ReadOptions reading_;
  Spec spec_;
  Model model_;
};

}  // namespace bochner
