#include <fmt/format.h>

#include <bochner/layers/initialize.hpp>
#include <bochner/train/classifier_task.hpp>
#include <bochner/train/token_task.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

SequenceClassifierSpec classifier_spec(const Config& config, std::size_t length) {
  SequenceClassifierSpec spec;
  spec.trunk = trunk_spec(config);
  spec.trunk.vocabulary = list_ops_vocabulary;
  spec.trunk.length = length;
  spec.classes = ListOps::classes;
  spec.pooling = config.text("model.pooling");
  return spec;
}

}  // namespace

ListOpsSpec list_ops_spec(const Config& config) {
  ListOpsSpec spec;
  spec.shortest = std::size_t(config.integer("data.shortest"));
  spec.longest = std::size_t(config.integer("data.length"));
  spec.depth = std::size_t(config.integer("data.depth"));
  spec.arguments = std::size_t(config.integer("data.arguments"));
  spec.class_token = config.text("model.pooling") == "cls";
  return spec;
}

ClassifierTask::ClassifierTask(const Config& config)
    : data_(list_ops_spec(config), example_set(config)),
      spec_(classifier_spec(config, data_.length())),
      model_(spec_) {
  initialize(model_, std::uint64_t(config.integer("train.seed")));
}

Var ClassifierTask::loss(Tape& tape, std::uint64_t first, std::size_t count) {
  const LabelledBatch batch = data_.batch(first, count);
  return model_.loss(tape, batch.tokens, batch.labels, batch.lengths);
}

Evaluation ClassifierTask::validate(Tape& tape, std::uint64_t index, std::size_t size) {
  const LabelledBatch batch = data_.validation_batch(index, size);
  return evaluate_answers(model_.logits(tape, batch.tokens, batch.lengths), batch.labels);
}

std::string ClassifierTask::describe_model() const {
  return fmt::format("classifier, {}, pooling {}", describe_trunk(spec_.trunk), spec_.pooling);
}

std::string ClassifierTask::describe_data() const {
  return fmt::format("listops, {} to {} tokens{}", data_.spec().shortest, data_.spec().longest,
                     describe_set(data_.examples()));
}

}  // namespace bochner::inline BOCHNER_PRECISION
