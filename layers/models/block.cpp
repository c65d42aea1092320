#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/models/block.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Block::Block(const BlockSpec& spec)
    : mixer_norm_(make_norm(spec.norm, spec.width)),
      mlp_norm_(make_norm(spec.norm, spec.width)),
      mixer_(mixers().make(spec.mixer.kind, spec.mixer)),
      mlp_(spec.width, spec.width * spec.expansion),
      dropout_(spec.dropout) {}

Var Block::forward(Tape& tape, const Var& x, const std::vector<std::size_t>& lengths) {
  return after_mixer(tape, x, mixer_->forward(tape, mixer_norm_->forward(tape, x), lengths));
}

Var Block::step(Tape& tape, const Var& x, MixerState& state) {
  return after_mixer(tape, x, mixer_->step(tape, mixer_norm_->forward(tape, x), state));
}

Var Block::after_mixer(Tape& tape, const Var& x, const Var& mixed) {
  const Var y = x + dropout_.forward(tape, mixed);
  return y + dropout_.forward(tape, mlp_.forward(tape, mlp_norm_->forward(tape, y)));
}

void Block::visit(Visitor& visitor) {
  visitor("mixer_norm", *mixer_norm_);
  visitor("mixer", *mixer_);
  visitor("mlp_norm", *mlp_norm_);
  visitor("mlp", mlp_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
