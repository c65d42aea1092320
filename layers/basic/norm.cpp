#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/layers/basic/norm.hpp>

namespace bochner::inline BOCHNER_PRECISION {

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

}  // namespace bochner::inline BOCHNER_PRECISION
