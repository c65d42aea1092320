#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/layers/models/language_model.hpp>

namespace bochner::inline BOCHNER_PRECISION {

LanguageModel::LanguageModel(const LanguageModelSpec& spec)
    : trunk_(spec), head_(spec.block.width, spec.vocabulary) {}

Var LanguageModel::logits(Tape& tape, const Indices& tokens) {
  require(tokens.shape.size() == 2, "language_model", "tokens must be (B, T), not ", tokens.shape);
  return head_.forward(tape, trunk_.forward(tape, tokens));
}

Var LanguageModel::loss(Tape& tape, const Indices& tokens, const Indices& targets) {
  return cross_entropy(logits(tape, tokens), targets);
}

Tensor LanguageModel::step(std::int32_t token, State& state) {
  Tape tape;
  tape.recording = false;
  Tensor logits = head_.forward(tape, trunk_.step(tape, token, state)).value();
  logits.reshape(Shape{logits.size()});
  return logits;
}

void LanguageModel::visit(Visitor& visitor) {
  trunk_.visit(visitor);
  visitor("head", head_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
