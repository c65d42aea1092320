#pragma once
#include <bochner/layers/basic/embedding.hpp>
#include <bochner/layers/encodings/positions.hpp>
#include <bochner/layers/models/block.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct TrunkSpec {
  std::size_t vocabulary = 256;
  std::size_t length = 256;  ///< longest training sequence; the number of learned positions
  std::size_t blocks = 4;
  std::string positions = "learned";
  bool checkpoint =
      false;  ///< compute each block again in the backward pass instead of keeping what it needs
  BlockSpec block;
};

/// What models of token sequences share below their heads: embedding, positions, blocks, norm.
class Trunk : public Module {
 public:
  explicit Trunk(const TrunkSpec& spec);
  /// Sequence b has lengths[b] tokens, all T without lengths. tokens (B, T), lengths (B) -> (B, T,
  /// D)
  Var forward(Tape& tape, const Indices& tokens, const std::vector<std::size_t>& lengths = {});

  /// The past of one sequence, for step().
  struct State {
    std::vector<std::unique_ptr<MixerState>> blocks;
    std::size_t position = 0;
  };
  State start() const;
  /// One more token of one sequence; equals the whole sequence's output at its position. -> (1, 1,
  /// D)
  Var step(Tape& tape, std::int32_t token, State& state);
  /// Positions that can be encoded; the state must be restarted beyond.
  std::size_t position_limit() const;

  /// Adds no name of its own: the parts stand beside the model's head.
  void visit(Visitor& visitor) override;

 private:
  Var run(Block& block, Tape& tape, const Var& x, const std::vector<std::size_t>& lengths);
  bool checkpoint_;
  Embedding embedding_;
  std::unique_ptr<PositionEncoding> positions_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::unique_ptr<Norm> norm_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
