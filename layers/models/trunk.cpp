#include <bochner/layers/models/trunk.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Trunk::Trunk(const TrunkSpec& spec)
    : embedding_(spec.vocabulary, spec.block.width),
      positions_(make_positions(spec.positions, spec.length, spec.block.width)),
      stack_(spec) {}

Var Trunk::forward(Tape& tape, const Indices& tokens, const Layout& layout) {
  Var x = embedding_.forward(tape, tokens);
  if (positions_) x = positions_->forward(tape, x, 0);
  return stack_.forward(tape, x, layout);
}

Var Trunk::step(Tape& tape, std::int32_t token, State& state) {
  Var x = embedding_.forward(tape, Indices{{1, 1}, {token}});
  if (positions_) x = positions_->forward(tape, x, state.position);
  ++state.position;
  return stack_.step(tape, x, state.blocks);
}

std::size_t Trunk::position_limit() const {
  return positions_ ? positions_->limit() : std::numeric_limits<std::size_t>::max();
}

void Trunk::visit(Visitor& visitor) {
  visitor("embedding", embedding_);
  if (positions_) visitor("positions", *positions_);
  stack_.visit(visitor);
}

}  // namespace bochner::inline BOCHNER_PRECISION
