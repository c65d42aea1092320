#pragma once
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct BlockSpec {
  std::size_t width = 128;
  std::size_t expansion = 4;
  double dropout = 0, stochastic_depth = 0;
  bool zero_init = false;
  std::string mlp = "gelu";
  std::string norm = "layer";
  double norm_momentum = 0.9;  ///< of "batch", see BatchNorm
  OwnSpecs own = {};           ///< specs of custom norms and MLPs
  MixerSpec mixer;
};
inline void describe(Keys& keys, BlockSpec& spec) {
  keys("width", spec.width, between(1, 1 << 16), "channels of the residual stream (D)");
  keys("expansion", spec.expansion, between(1, 64),
       "hidden width of the MLP in units of model.width");
  keys(
      "mlp", spec.mlp, one_of(mlps, {"none", "glu"}),
      "after the mixer: an MLP in a residual of its own, gelu or gated (swiglu: W3 (silu(W1 x) * "
      "W2 x)); a gate in the mixer's residual (glu: a sigmoid(b) for [a, b] = W gelu(y)); nothing");
  mlps().describe_own(keys, spec.own, "mlp");
  keys("dropout", spec.dropout, below(0, 1), "probability that training drops an activation");
  keys(
      "stochastic_depth", spec.stochastic_depth, below(0, 1),
      "probability that training drops the mixer or MLP of the last block for a sequence; in block "
      "i of n it is i / n times that");
  keys("zero_init", spec.zero_init,
       "set the maps out of mixers and MLPs to 0 at first, so that each block is the identity");
  keys("norm", spec.norm, one_of(norms),
       "normalization before each mixer and MLP: layer norm, RMS norm, or batch norm over the "
       "tokens of the batch; batch norm is not for models that predict at every token");
  keys.when("norm", {"batch"})(
      "norm_momentum", spec.norm_momentum, below(0, 1),
      "share of the running moments kept at each batch; validation uses them");
  norms().describe_own(keys, spec.own, "norm");
  keys.section("mixer", spec.mixer);
}

/// Input of a part of a stack. x (B, T, D); `each` as in BlockStack::forward().
struct StackInput {
  const Var& x;
  const Layout& layout;
  const Var& each;
};
/// Observer of a tape that receives the inputs of the stack, its blocks and their mixers.
struct StackObserver : TapeObserver {
  virtual void on_input(Module& part, const StackInput& what) = 0;
};

/// Pre-norm residual block: x + mixer(norm(x)), then x + mlp(norm(x)); for mlp "glu" only x +
/// gate(mixer(norm(x))), for "none" without the gate. (B, T, D) -> (B, T, D)
class Block : public Module {
 public:
  explicit Block(const BlockSpec& spec);
  Var forward(Tape& tape, const Var& x, const Layout& layout = {});
  /// Compute the halves of forward(): x + mixer(norm(x)) and x + mlp(norm(x)).
  Var mix(Tape& tape, const Var& x, const Layout& layout);
  Var feed(Tape& tape, const Var& x, const Layout& layout = {});
  bool has_mlp() const { return mlp_ != nullptr; }
  /// Sets the maps out of the mixer and the MLP to 0 for `zero_init`.
  void initialized() override;
  std::unique_ptr<MixerState> start() const;
  /// Processes one token. (B, 1, D) -> (B, 1, D)
  Var step(Tape& tape, const Var& x, MixerState& state) {
    const Var mixed = mixer_->step(tape, mixer_norm_->forward(tape, x), state);
    return feed(tape, add_residual(tape, x, mixed));
  }
  void visit(Visitor& visitor) override;

 private:
  bool drops(const Tape& tape) const { return dropout_.acts(tape) || depth_.acts(tape); }
  Var add_residual(Tape& tape, const Var& x, const Var& mixed);
  std::unique_ptr<Norm> mixer_norm_, mlp_norm_;  ///< mlp_norm_ is null without an MLP
  std::unique_ptr<Mixer> mixer_;
  std::unique_ptr<GatedOutput> gate_;  ///< mlp "glu", else null
  std::unique_ptr<FeedForward> mlp_;   ///< may be null
  Dropout dropout_;
  StochasticDepth depth_;
  bool zero_init_;
};

struct StackSpec {
  std::size_t blocks = 4, repeat = 1;
  bool input_residual = false, value_residual = false;
  /// Position encoding: "rotary" in the mixers, others below the stack, see make_positions();
  /// "encoding": TrunkSpec::encoding, for models of tokens.
  std::string positions = "learned";
  bool checkpoint = false;
  BlockSpec block;
  /// Mixers of the blocks, repeated; empty: block.mixer.kind for all.
  std::vector<std::string> pattern = {};
};
/// Returns how many blocks show all that a stack of this spec can have; further ones repeat them.
inline std::size_t fewest_blocks(const StackSpec& spec) {
  return std::max<std::size_t>(1, spec.pattern.size()) + (spec.value_residual ? 1 : 0);
}
inline void describe(Keys& keys, StackSpec& spec) {
  keys("blocks", spec.blocks, between(0, 10000),
       "number of blocks; 0 for embedding and head only, a baseline");
  keys("repeat", spec.repeat, between(1, 1000),
       "how many times the blocks are applied one after the other, with the same weights");
  keys("input_residual", spec.input_residual,
       "blocks get a x + b x0 with learned numbers a, 1 at first, and b, 0 at first; x0 is the "
       "input of the first block");
  keys.when(has_kind("model.mixer.kind", mixers, "values", &MixerTraits::values))(
      "value_residual", spec.value_residual,
      "later blocks attend to values a v + b v1 with learned numbers a and b, 1/2 at first; v1 are "
      "the values of the first block");
  keys("pattern", spec.pattern, one_of(mixers),
       "mixers of the blocks, repeated from the first block on, instead of model.mixer.kind: "
       "[\"linear\", \"linear\", \"softmax\"]");
  describe(keys, spec.block);
  // "none" says what a field does anyway
  keys.when(unless("model.kind", {"field"}) || keys.is("positions", {"none"}))(
      "positions", spec.positions, one_of({"learned", "sinusoidal", "rotary", "encoding", "none"}),
      "how positions enter; encoding: model.encoding of row and column of an image, or of line and "
      "place in the line of a text");
  keys("checkpoint", spec.checkpoint,
       "recompute activations of each block in the backward pass: less memory, more time",
       resumable);
}

inline std::unique_ptr<Norm> make_norm(const BlockSpec& spec) {
  return norms().make(spec.norm, {spec.width, spec.norm_momentum, spec.own});
}

/// Throws std::invalid_argument for a norm that leaks tokens to be predicted.
void require_causal_norm(const StackSpec& spec, const char* model);

/// Returns the spec of a block: its mixer by the pattern, its place, and separate base draws.
/// Mixers drop features that only other mixers of the pattern have, see MixerTraits.
BlockSpec block_spec(const StackSpec& spec, std::size_t index,
                     const std::shared_ptr<StackPlace::Shared>& shared = {});

/// Returns the spec with attention in both directions, unless the mixers have one.
template <class Spec>
Spec in_both_directions(Spec spec) {
  spec.block.mixer.causal = spec.block.mixer.directions == 1;
  return spec;
}

/// Residual blocks and a final norm, shared by all models. (B, T, D) -> (B, T, D)
class BlockStack : public Module {
 public:
  explicit BlockStack(const StackSpec& spec);
  /// Applies the stack. `each`, if it exists, is added to every block's input by broadcasting.
  Var forward(Tape& tape, const Var& x, const Layout& layout = {}, const Var& each = {});

  using State = std::vector<std::unique_ptr<MixerState>>;
  State start() const {
    State state;
    for (std::size_t i = 0; i < depth(); ++i) state.push_back(block(i).start());
    return state;
  }
  /// Processes the next token of each sequence, `gap` after the previous one; equals the batch
  /// output at its position. (B, 1, D) -> (B, 1, D)
  Var step(Tape& tape, const Var& x, State& state, double gap = 1, const Var& each = {});
  void visit(Visitor& visitor) override {
    visitor("blocks", blocks_);
    if (input_residual_)
      visitor("residual_scale", residual_scale_), visitor("input_scale", input_scale_);
    visitor("norm", *norm_);
  }

 private:
  std::size_t depth() const { return blocks_.size() * repeat_; }
  Block& block(std::size_t i) const { return *blocks_[i % blocks_.size()]; }
  /// Returns the input of place i of the stack: x, the first input and `each`, as there are.
  Var input(Tape& tape, std::size_t i, const Var& x, const Var& first, const Var& each);
  Var run(Block& block, Tape& tape, const Var& x, const Layout& layout);
  /// Computes block.mix() with a checkpoint, with the values of the first block as a second input
  /// or output beside the tokens.
  Var mix_with_values(Block& block, Tape& tape, const Var& x, const Layout& layout);
  std::size_t width_, repeat_;
  bool checkpoint_, input_residual_, value_residual_;
  std::vector<std::unique_ptr<Block>> blocks_;
  Parameter residual_scale_, input_scale_;  // (depth), of input_residual
  std::unique_ptr<Norm> norm_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
