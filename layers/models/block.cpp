#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/models/block.hpp>

namespace bochner::inline BOCHNER_PRECISION {

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

}  // namespace bochner::inline BOCHNER_PRECISION
