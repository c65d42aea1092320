#pragma once
#include <bochner/layers/models/trunk.hpp>

namespace bochner::inline BOCHNER_PRECISION {

using LanguageModelSpec = TrunkSpec;

/// Predicts the next token: trunk, linear head.
class LanguageModel : public Module {
 public:
  explicit LanguageModel(const LanguageModelSpec& spec);
  /// tokens (B, T) -> logits (B, T, V)
  Var logits(Tape& tape, const Indices& tokens);
  /// Mean cross-entropy in nats per token. (B, T), (B, T) -> ()
  Var loss(Tape& tape, const Indices& tokens, const Indices& targets);

  /// The past of one sequence, for step().
  using State = Trunk::State;
  State start() const { return trunk_.start(); }
  /// Logits (V) after one more token; equal to those of the whole sequence at its position.
  Tensor step(std::int32_t token, State& state);
  /// Positions that can be encoded; the state must be restarted beyond.
  std::size_t position_limit() const { return trunk_.position_limit(); }

  void visit(Visitor& visitor) override;

 private:
  Trunk trunk_;
  Linear head_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
