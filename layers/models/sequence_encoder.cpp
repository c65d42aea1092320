#include <bochner/layers/models/sequence_encoder.hpp>

namespace bochner::inline BOCHNER_PRECISION {

SequenceEncoder::SequenceEncoder(const SequenceEncoderSpec& spec) {
  const TrunkSpec trunk = in_both_directions(spec.trunk);
  if (spec.values == 0) {
    trunk_ = std::make_unique<Trunk>(trunk);
    return;
  }
  const std::size_t width = trunk.block.width;
  embedding_ = std::make_unique<Linear>(spec.values, width);
  positions_ = make_positions(trunk.positions, trunk.length, width);
  stack_ = std::make_unique<BlockStack>(trunk);
}

Var SequenceEncoder::encode_tokens(Tape& tape, const EncoderInput& input) {
  if (trunk_) return trunk_->forward(tape, input.tokens, input.lengths, input.times);
  require(input.values.dimension() == 3, "sequence_encoder", "values must be (B, T, F), not ",
          input.values.shape());
  Var x = embedding_->forward(tape, tape.constant(input.values));
  if (positions_) x = positions_->forward(tape, x, 0);
  return stack_->forward(tape, x, {.lengths = input.lengths});
}

void SequenceEncoder::visit(Visitor& visitor) {
  if (trunk_) return trunk_->visit(visitor);
  visitor("embedding", *embedding_);
  if (positions_) visitor("positions", *positions_);
  stack_->visit(visitor);
}

}  // namespace bochner::inline BOCHNER_PRECISION
