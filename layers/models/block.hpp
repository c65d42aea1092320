#pragma once
#include <bochner/layers/attention/mixer.hpp>
#include <bochner/layers/attention/mixer_spec.hpp>
#include <bochner/layers/basic/position_wise.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct BlockSpec {
  std::size_t width = 128;
  std::size_t expansion = 4;
  double dropout = 0;
  std::string norm = "layer";
  MixerSpec mixer;
};
inline void describe(Keys& keys, BlockSpec& spec) {
  keys("width", spec.width, between(1, 1 << 16), "channels of the residual stream (D)");
  keys("expansion", spec.expansion, between(1, 64),
       "hidden width of the MLP in units of model.width");
  keys("dropout", spec.dropout, below(0, 1),
       "probability that an activation is dropped in training");
  keys("norm", spec.norm, one_of({"layer", "rms"}),
       "normalisation at the start of a block: layer norm or RMS norm");
  keys.section("mixer", spec.mixer);
}

/// x + mixer(norm(x)), then x + mlp(norm(x)): the pre-norm residual block. (B, T, D) -> (B, T, D)
class Block : public Module {
 public:
  explicit Block(const BlockSpec& spec);
  Var forward(Tape& tape, const Var& x, const Layout& layout = {});
  /// The two halves of forward(): x + mixer(norm(x)) and x + mlp(norm(x)).
  Var mix(Tape& tape, const Var& x, const Layout& layout);
  Var feed(Tape& tape, const Var& x);
  std::unique_ptr<MixerState> start() const { return mixer_->start(); }
  /// (1, 1, D) -> (1, 1, D)
  Var step(Tape& tape, const Var& x, MixerState& state);
  void visit(Visitor& visitor) override;

 private:
  std::unique_ptr<Norm> mixer_norm_, mlp_norm_;
  std::unique_ptr<Mixer> mixer_;
  MLP mlp_;
  Dropout dropout_;
};

struct StackSpec {
  std::size_t blocks = 4;
  /// How positions enter: "rotary" ones in the mixers, others below the stack, see
  /// make_positions(); "encoding": as TrunkSpec::encoding, of models of tokens.
  std::string positions = "learned";
  bool checkpoint = false;
  BlockSpec block;
};
inline void describe(Keys& keys, StackSpec& spec) {
  keys("blocks", spec.blocks, between(1, 10000), "number of blocks");
  describe(keys, spec.block);
  keys("positions", spec.positions, one_of({"learned", "sinusoidal", "rotary", "encoding", "none"}),
       "how positions enter; encoding: as model.encoding of row and column of images, and of line "
       "and place in it of texts, in place of the number of a token");
  keys("checkpoint", spec.checkpoint,
       "recompute the activations of each block in the backward pass: less memory, more time",
       resumable);
}

/// The same stack, with attention in both directions unless the mixers have one.
template <class Spec>
Spec in_both_directions(Spec spec) {
  spec.block.mixer.causal = spec.block.mixer.directions == 1;
  return spec;
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
  Var step(Tape& tape, const Var& x, State& state, double gap = 1, const Var& each = {});
  void visit(Visitor& visitor) override;

 private:
  Var run(Block& block, Tape& tape, const Var& x, const Layout& layout);
  bool checkpoint_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::unique_ptr<Norm> norm_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
