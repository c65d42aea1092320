#pragma once
#include <bochner/layers/models/block.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct StackSpec {
  std::size_t blocks = 4;
  /// How positions enter: "rotary" ones in the mixers, others below the stack, see
  /// make_positions().
  std::string positions = "learned";
  bool checkpoint = false;
  BlockSpec block;
};
inline void describe(Keys& keys, StackSpec& spec) {
  keys("blocks", spec.blocks, between(1, 10000), "number of blocks");
  keys("width", spec.block.width, between(1, 1 << 16), "channels of the residual stream (D)");
  keys("expansion", spec.block.expansion, between(1, 64),
       "hidden width of the MLP in units of model.width");
  keys("dropout", spec.block.dropout, below(0, 1),
       "probability that an activation is dropped in training");
  keys("positions", spec.positions, one_of({"learned", "sinusoidal", "rotary", "none"}),
       "how positions enter");
  keys("norm", spec.block.norm, one_of({"layer", "rms"}),
       "normalisation at the start of a block: layer norm or RMS norm");
  keys("checkpoint", spec.checkpoint,
       "recompute the activations of each block in the backward pass: less memory, more time",
       resumable);
  keys.section("mixer", spec.block.mixer);
}

/// Residual blocks and the norm behind the last: what all models share. (B, T, D) -> (B, T, D)
class BlockStack : public Module {
 public:
  explicit BlockStack(const StackSpec& spec);
  /// `each` is added to the input of every block, if it is there; it broadcasts to (B, T, D).
  Var forward(Tape& tape, const Var& x, const Layout& layout = {}, const Var& each = {});

  using State = std::vector<std::unique_ptr<MixerState>>;
  State start() const;
  /// One more token of one sequence, `gap` after the one before; equals the whole sequence's output
  /// at its position. (1, 1, D) -> (1, 1, D)
  Var step(Tape& tape, const Var& x, State& state, double gap = 1);
  void visit(Visitor& visitor) override;

 private:
  Var run(Block& block, Tape& tape, const Var& x, const Layout& layout);
  bool checkpoint_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::unique_ptr<Norm> norm_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
