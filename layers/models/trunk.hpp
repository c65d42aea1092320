#pragma once
#include <bochner/layers/basic/embedding.hpp>
#include <bochner/layers/encodings/positions.hpp>
#include <bochner/layers/models/block_stack.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct TrunkSpec : StackSpec {
  std::size_t vocabulary = 256;
  std::size_t length = 256;  ///< longest training sequence; the number of learned positions
};

/// What models of token sequences share below their heads: embedding, positions, block stack.
class Trunk : public Module {
 public:
  explicit Trunk(const TrunkSpec& spec);
  /// tokens (B, T) -> (B, T, D)
  Var forward(Tape& tape, const Indices& tokens, const Layout& layout = {});

  /// The past of one sequence, for step().
  struct State {
    BlockStack::State blocks;
    std::size_t position = 0;
  };
  State start() const { return {stack_.start()}; }
  /// One more token of one sequence; equals the whole sequence's output at its position. -> (1, 1,
  /// D)
  Var step(Tape& tape, std::int32_t token, State& state);
  /// Positions that can be encoded; the state must be restarted beyond.
  std::size_t position_limit() const;

  /// Adds no name of its own: the parts stand beside the model's head.
  void visit(Visitor& visitor) override;

 private:
  Embedding embedding_;
  std::unique_ptr<PositionEncoding> positions_;
  BlockStack stack_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
