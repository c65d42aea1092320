#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/layers/basic/position_wise.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

Linear::Linear(std::size_t in, std::size_t out)
    : weight_({in, out}, Initial::uniform(1 / std::sqrt(double(in)))),
      bias_({out}, Initial::uniform(1 / std::sqrt(double(in)))) {}

Var Linear::forward(Tape& tape, const Var& x) { return affine(x, tape(weight_), tape(bias_)); }

Var Linear::forward(Tape& tape, const Var& x, const Shape& shape) {
  return affine(x, tape(weight_), tape(bias_), shape);
}

Var Linear::forward_gelu(Tape& tape, const Var& x) {
  return affine_gelu(x, tape(weight_), tape(bias_));
}

void Linear::visit(Visitor& visitor) {
  visitor("weight", weight_);
  visitor("bias", bias_);
}

LayerNorm::LayerNorm(std::size_t width) : gain_(filled({width}, real(1))), bias_({width}) {}

Var LayerNorm::forward(Tape& tape, const Var& x) { return layer_norm(x, tape(gain_), tape(bias_)); }

void LayerNorm::visit(Visitor& visitor) {
  visitor("gain", gain_);
  visitor("bias", bias_);
}

RMSNorm::RMSNorm(std::size_t width) : gain_(filled({width}, real(1))) {}

Var RMSNorm::forward(Tape& tape, const Var& x) { return rms_norm(x, tape(gain_)); }

void RMSNorm::visit(Visitor& visitor) { visitor("gain", gain_); }

std::unique_ptr<Norm> make_norm(const std::string& kind, std::size_t width) {
  if (kind == "layer") return std::make_unique<LayerNorm>(width);
  require(kind == "rms", "norm", "no normalisation is called \"", kind,
          "\"; there are: layer, rms");
  return std::make_unique<RMSNorm>(width);
}

Dropout::Dropout(double rate) : rate_(real(rate)) {
  require(rate >= 0 && rate < 1, "dropout", "the rate must be in [0, 1), not ", rate);
}

Var Dropout::forward(Tape& tape, const Var& x) const {
  return rate_ == 0 ? x : dropout(tape, x, rate_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
