#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/encoding_pictures.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/stack_checks.hpp>
#include <bochner/train/tasks/text/language_learner.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>
#include <limits>

namespace bochner {
namespace {

/// Returns the tokenizer of the config. Throws DataError if the facts name another one.
std::shared_ptr<const Tokenizer> known_tokenizer(const Config& config, const TextFacts& facts) {
  auto tokenizer = tokenizer_of(config);
  require_same_tokenizer(config, *tokenizer, facts.tokenizer);
  return tokenizer;
}

}  // namespace

LanguageLearner::LanguageLearner(const Config& config, TextFacts facts)
    : facts_(std::move(facts)),
      writes_(config.text("data.kind") == "bytes"),
      tokenizer_(known_tokenizer(config, facts_)),
      spec_(trunk_spec(config, facts_.length)),
      positions_(counts_positions(config) ? spec_.block.mixer.features.length
                                          : std::numeric_limits<std::size_t>::max()),
      model_(make_language_model(spec_, config.count("train.seed"))) {}

std::string LanguageLearner::describe() const {
  return "lm, " + describe_stack(spec_) + ", positions " + spec_.positions;
}

Json LanguageLearner::sizes() const { return Json{{"length", spec_.length}}; }

void LanguageLearner::illustrate(Page& page) { add_encoding(page, *model_, grid_of(spec_.places)); }

LearnerAbilities LanguageLearner::abilities() {
  return {.writes = writes_ ? this : nullptr, .specimens = this};
}

void LanguageLearner::forward_specimen(Tape& tape, std::size_t i) {
  const Batch& one = facts_.specimens[i];
  model_->loss(tape, one.inputs, one.targets);
}

}  // namespace bochner
