#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/events/event_tokens_learner.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {
namespace {

LanguageModelSpec timed_trunk(const Config& config, const EventFacts& facts) {
  auto spec = read_spec<LanguageModelSpec>(config, "model");
  spec.timed = true;
  spec.vocabulary = facts.types;
  spec.length = facts.length;
  complete(spec.time.density, config);
  complete(spec, config, spec.length);
  complete_loss(spec, config);
  return spec;
}

}  // namespace

EventTokensLearner::EventTokensLearner(const Config& config, EventFacts facts)
    : facts_(std::move(facts)),
      reading_(table_options(config)),
      columns_(event_columns(config)),
      spec_(timed_trunk(config, facts_)),
      model_(spec_) {
  initialize(model_, config.count("train.seed"));
}

std::string EventTokensLearner::describe() const {
  return fmt::format("lm, {}, positions {}, time {}", describe_stack(spec_), spec_.positions,
                     describe_time(spec_.time));
}

Json EventTokensLearner::sizes() const { return Json{{"length", spec_.length}}; }

NamedArray EventTokensLearner::predict(const NamedArray& question) {
  const std::size_t K = facts_.types;
  const std::vector<EventTable> windows = windows_of_table(question, columns_, facts_);
  NamedArray result{{}, type_columns(facts_)};
  result.values.resize({question.values.shape()[0], K});
  for (const EventTable& events : windows) {
    Tape tape({.recording = false});
    const Var each = softmax(model_.logits(tape, events.types, events.times));
    for (std::size_t i = 0; i < events.rows.size(); ++i)
      std::copy_n(each.data() + i * K, K, result.values.data() + events.rows[i] * K);
  }
  return result;
}

void EventTokensLearner::forward_specimen(Tape& tape, std::size_t i) {
  const EventBatch& one = facts_.specimens[i];
  model_.loss(tape, one.types, one.next_types, one.times);
}

}  // namespace bochner
