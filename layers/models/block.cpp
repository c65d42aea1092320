#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/models/block.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Blocks differ in the seed of their base draws and in their place.
BlockSpec block_spec(const StackSpec& spec, std::size_t index,
                     const std::shared_ptr<StackPlace::Shared>& shared) {
  BlockSpec block = spec.block;
  require(!block.mixer.causal || block.mixer.directions != 2, "mixer",
          "directions = 2 shows tokens what follows, which this model is to predict; choose 1");
  block.mixer.width = block.width;
  block.mixer.rotary = spec.positions == "rotary";
  block.mixer.features.density.seed += index;
  block.mixer.time.density.seed += index;
  block.mixer.time_kernel.density.seed += index;
  block.mixer.place = {index, spec.blocks, shared};
  return block;
}

}  // namespace

Block::Block(const BlockSpec& spec)
    : mixer_norm_(make_norm(spec.norm, spec.width)),
      mlp_norm_(make_norm(spec.norm, spec.width)),
      mixer_(mixers().make(spec.mixer.kind, spec.mixer)),
      mlp_(spec.width, spec.width * spec.expansion),
      dropout_(spec.dropout) {}

Var Block::forward(Tape& tape, const Var& x, const Layout& layout) {
  return feed(tape, mix(tape, x, layout));
}

Var Block::mix(Tape& tape, const Var& x, const Layout& layout) {
  const Var mixed = mixer_->forward(tape, mixer_norm_->forward(tape, x), layout);
  return x + dropout_.forward(tape, mixed);
}

Var Block::feed(Tape& tape, const Var& x) {
  return x + dropout_.forward(tape, mlp_.forward(tape, mlp_norm_->forward(tape, x)));
}

Var Block::step(Tape& tape, const Var& x, MixerState& state) {
  const Var mixed = mixer_->step(tape, mixer_norm_->forward(tape, x), state);
  return feed(tape, x + dropout_.forward(tape, mixed));
}

void Block::visit(Visitor& visitor) {
  visitor("mixer_norm", *mixer_norm_);
  visitor("mixer", *mixer_);
  visitor("mlp_norm", *mlp_norm_);
  visitor("mlp", mlp_);
}

BlockStack::BlockStack(const StackSpec& spec)
    : checkpoint_(spec.checkpoint), norm_(make_norm(spec.block.norm, spec.block.width)) {
  const auto shared = std::make_shared<StackPlace::Shared>();
  for (std::size_t i = 0; i < spec.blocks; ++i)
    blocks_.push_back(std::make_unique<Block>(block_spec(spec, i, shared)));
}

Var BlockStack::forward(Tape& tape, const Var& x, const Layout& layout, const Var& each) {
  Var y = x;
  for (auto& block : blocks_) y = run(*block, tape, each.exists() ? y + each : y, layout);
  return norm_->forward(tape, y);
}

/// Halves of a block are computed again one at a time: what the mixer needs is gone when the MLP's
/// hidden activations, the largest arrays, are there.
Var BlockStack::run(Block& block, Tape& tape, const Var& x, const Layout& layout) {
  if (!checkpoint_) return block.forward(tape, x, layout);
  const auto mix = [&block, layout](Tape& segment, const Var& input) {
    return block.mix(segment, input, layout);
  };
  const auto feed = [&block](Tape& segment, const Var& input) {
    return block.feed(segment, input);
  };
  return checkpoint(tape, feed, checkpoint(tape, mix, x));
}

BlockStack::State BlockStack::start() const {
  State state;
  for (const auto& block : blocks_) state.push_back(block->start());
  return state;
}

Var BlockStack::step(Tape& tape, const Var& x, State& state, double gap, const Var& each) {
  Var y = x;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    state[i]->gap = gap;
    y = blocks_[i]->step(tape, each.exists() ? y + each : y, *state[i]);
  }
  return norm_->forward(tape, y);
}

void BlockStack::visit(Visitor& visitor) {
  visitor("blocks", blocks_);
  visitor("norm", *norm_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
