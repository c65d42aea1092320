#include <bochner/layers/models/trunk.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Blocks differ in the seed of their base draws and in nothing else.
BlockSpec block_spec(const TrunkSpec& spec, std::size_t index) {
  BlockSpec block = spec.block;
  block.mixer.width = block.width;
  block.mixer.rotary = spec.positions == "rotary";
  block.mixer.features.density.seed += index;
  return block;
}

}  // namespace

Trunk::Trunk(const TrunkSpec& spec)
    : checkpoint_(spec.checkpoint),
      embedding_(spec.vocabulary, spec.block.width),
      positions_(make_positions(spec.positions, spec.length, spec.block.width)),
      norm_(make_norm(spec.block.norm, spec.block.width)) {
  for (std::size_t i = 0; i < spec.blocks; ++i)
    blocks_.push_back(std::make_unique<Block>(block_spec(spec, i)));
}

Var Trunk::forward(Tape& tape, const Indices& tokens, const std::vector<std::size_t>& lengths) {
  Var x = embedding_.forward(tape, tokens);
  if (positions_) x = positions_->forward(tape, x, 0);
  for (auto& block : blocks_) x = run(*block, tape, x, lengths);
  return norm_->forward(tape, x);
}

/// Halves of a block are computed again one at a time: what the mixer needs is gone when the MLP's
/// hidden activations, the largest arrays, are there.
Var Trunk::run(Block& block, Tape& tape, const Var& x, const std::vector<std::size_t>& lengths) {
  if (!checkpoint_) return block.forward(tape, x, lengths);
  const auto mix = [&block, lengths](Tape& segment, const Var& input) {
    return block.mix(segment, input, lengths);
  };
  const auto feed = [&block](Tape& segment, const Var& input) {
    return block.feed(segment, input);
  };
  return checkpoint(tape, feed, checkpoint(tape, mix, x));
}

Trunk::State Trunk::start() const {
  State state;
  for (const auto& block : blocks_) state.blocks.push_back(block->start());
  return state;
}

Var Trunk::step(Tape& tape, std::int32_t token, State& state) {
  Var x = embedding_.forward(tape, Indices{{1, 1}, {token}});
  if (positions_) x = positions_->forward(tape, x, state.position);
  ++state.position;
  for (std::size_t i = 0; i < blocks_.size(); ++i) x = blocks_[i]->step(tape, x, *state.blocks[i]);
  return norm_->forward(tape, x);
}

std::size_t Trunk::position_limit() const {
  return positions_ ? positions_->limit() : std::numeric_limits<std::size_t>::max();
}

void Trunk::visit(Visitor& visitor) {
  visitor("embedding", embedding_);
  if (positions_) visitor("positions", *positions_);
  visitor("blocks", blocks_);
  visitor("norm", *norm_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
