#pragma once
#include <bochner/layers/basic/embedding.hpp>
#include <bochner/layers/encodings/positions.hpp>
#include <bochner/layers/models/block.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct LanguageModelSpec {
  std::size_t vocabulary = 256;
  std::size_t length = 256;  ///< longest training sequence; the number of learned positions
  std::size_t blocks = 4;
  std::string positions = "learned";
  bool checkpoint =
      false;  ///< compute each block again in the backward pass instead of keeping what it needs
  BlockSpec block;
};

/// Predicts the next token: embedding, positions, blocks, norm, linear head.
class LanguageModel : public Module {
 public:
  explicit LanguageModel(const LanguageModelSpec& spec);
  /// tokens (B, T) -> logits (B, T, V)
  Var logits(Tape& tape, const Indices& tokens);
  /// Mean cross-entropy in nats per token. (B, T), (B, T) -> ()
  Var loss(Tape& tape, const Indices& tokens, const Indices& targets);

  /// The past of one sequence, for step().
  struct State {
    std::vector<std::unique_ptr<MixerState>> blocks;
    std::size_t position = 0;
  };
  State start() const;
  /// Logits (V) after one more token; equal to those of the whole sequence at its position.
  Tensor step(std::int32_t token, State& state);
  /// Positions that can be encoded; the state must be restarted beyond.
  std::size_t position_limit() const;

  void visit(Visitor& visitor) override;

 private:
  bool checkpoint_;
  Embedding embedding_;
  std::unique_ptr<PositionEncoding> positions_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::unique_ptr<Norm> norm_;
  Linear head_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
