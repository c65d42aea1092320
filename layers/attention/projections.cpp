#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/attention/projections.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

Projections::Projections(const MixerSpec& spec)
    : heads_(spec.heads),
      rotary_(spec.rotary),
      query_(spec.width, spec.width),
      key_(spec.width, spec.width),
      value_(spec.width, spec.width),
      output_(spec.width, spec.width) {
  require(spec.heads > 0 && spec.width % spec.heads == 0, "mixer", "heads = ", spec.heads,
          " must divide width = ", spec.width);
}

Projections::Heads Projections::split(Tape& tape, const Var& x, std::size_t first) {
  const Shape by_head{x.dim(0), x.dim(1), heads_, x.dim(2) / heads_};
  Var q = query_.forward(tape, x, by_head);
  Var k = key_.forward(tape, x, by_head);
  Var v = value_.forward(tape, x, by_head);
  return rotary_ ? Heads{rotary(q, first), rotary(k, first), v} : Heads{q, k, v};
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
