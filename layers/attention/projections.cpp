#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/attention/projections.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

Projection::Projection(std::size_t width, std::size_t taps) : linear_(width, width) {
  if (taps > 0) convolution_ = std::make_unique<ShortConvolution>(taps, width);
}

Var Projection::forward(Tape& tape, const Var& x) {
  const Var y = linear_.forward(tape, x);
  return convolution_ ? convolution_->forward(tape, y) : y;
}

Var Projection::step(Tape& tape, const Var& x, Tensor& recent) {
  const Var y = linear_.forward(tape, x);
  if (!convolution_) return y;
  if (recent.shape().empty()) recent = convolution_->start();
  return convolution_->step(tape, y, recent);
}

void Projection::visit(Visitor& visitor) {
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

Projections::Heads Projections::by_head(const Var& q, const Var& k, const Var& v,
                                        std::size_t first) const {
  const Shape shape{q.dim(0), q.dim(1), heads_, q.dim(2) / heads_};
  Heads heads{reshape(q, shape), reshape(k, shape), reshape(v, shape)};
  if (!rotary_) return heads;
  return {rotary(heads.q, first), rotary(heads.k, first), heads.v};
}

Projections::Heads Projections::split(Tape& tape, const Var& x) {
  const Var q = query_.forward(tape, x), k = key_.forward(tape, x), v = value_.forward(tape, x);
  return by_head(q, k, v, 0);
}

Projections::Heads Projections::split(Tape& tape, const Var& x, MixerState& state) {
  state.recent.resize(3);
  const Var q = query_.step(tape, x, state.recent[0]), k = key_.step(tape, x, state.recent[1]),
            v = value_.step(tape, x, state.recent[2]);
  return by_head(q, k, v, state.position++);
}

Var Projections::join(Tape& tape, const Var& y) {
  return output_.forward(tape, reshape(y, {y.dim(0), y.dim(1), y.dim(2) * y.dim(3)}));
}

void Projections::visit(Visitor& visitor) {
  visitor("query", query_);
  visitor("key", key_);
  visitor("value", value_);
  visitor("output", output_);
}

TimeKernel::TimeKernel(const TimeKernelSpec& spec, std::size_t heads)
    : active_(spec.kind == "decay"), log_rate_(zeros({active_ ? heads : 0})) {
  require(active_ || spec.kind == "none", "time_kernel", "no time kernel is called \"", spec.kind,
          "\"; there are: none, decay");
  for (std::size_t h = 0; h < log_rate_.value().size(); ++h) {
    const double part = heads > 1 ? double(h) / double(heads - 1) : 0;
    log_rate_.value().data()[h] =
        real(-(1 - part) * std::log(spec.shortest) - part * std::log(spec.longest));
  }
}

Var TimeKernel::rate(Tape& tape) { return active_ ? exp(tape(log_rate_)) : Var(); }

void TimeKernel::visit(Visitor& visitor) {
  if (active_) visitor("log_rate", log_rate_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
