#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/attention/projections.hpp>

namespace bochner::inline BOCHNER_PRECISION {

HeadProjection::HeadProjection(std::size_t width, std::size_t taps) : linear_(width, width) {
  if (taps > 0) convolution_ = std::make_unique<ShortConvolution>(taps, width);
}

Var HeadProjection::forward(Tape& tape, const Var& x, const Shape& shape) {
  if (!convolution_) return linear_.forward(tape, x, shape);
  return reshape(convolution_->forward(tape, linear_.forward(tape, x)), shape);
}

Var HeadProjection::step(Tape& tape, const Var& x, const Shape& shape, Tensor& recent) {
  if (!convolution_) return linear_.forward(tape, x, shape);
  if (recent.shape().empty()) recent = convolution_->start();
  return reshape(convolution_->step(tape, linear_.forward(tape, x), recent), shape);
}

void HeadProjection::visit(Visitor& visitor) {
  linear_.visit(visitor);
  if (convolution_) visitor("convolution", *convolution_);
}

Projections::Projections(const MixerSpec& spec)
    : heads_(spec.heads),
      rotary_(spec.rotary),
      query_(spec.width, spec.convolution),
      key_(spec.width, spec.convolution),
      value_(spec.width, spec.convolution),
      output_(spec.width, spec.width) {
  require(spec.heads > 0 && spec.width % spec.heads == 0, "mixer", "heads = ", spec.heads,
          " must divide width = ", spec.width);
}

Projections::Heads Projections::rotated(const Heads& heads, std::size_t first) const {
  if (!rotary_) return heads;
  return {rotary(heads.q, first), rotary(heads.k, first), heads.v};
}

Projections::Heads Projections::split(Tape& tape, const Var& x) {
  const Shape by_head{x.dim(0), x.dim(1), heads_, x.dim(2) / heads_};
  return rotated({query_.forward(tape, x, by_head), key_.forward(tape, x, by_head),
                  value_.forward(tape, x, by_head)},
                 0);
}

Projections::Heads Projections::split(Tape& tape, const Var& x, MixerState& state) {
  const Shape by_head{1, 1, heads_, x.dim(2) / heads_};
  state.recent.resize(3);
  return rotated(
      {query_.step(tape, x, by_head, state.recent[0]), key_.step(tape, x, by_head, state.recent[1]),
       value_.step(tape, x, by_head, state.recent[2])},
      state.position++);
}

Var Projections::join(Tape& tape, const Var& y) {
  return output_.forward(tape, y, {y.dim(0), y.dim(1), y.dim(2) * y.dim(3)});
}

void Projections::visit(Visitor& visitor) {
  visitor("query", query_);
  visitor("key", key_);
  visitor("value", value_);
  visitor("output", output_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
