#include <bochner/layers/recurrences/token_wise.hpp>

namespace bochner::inline BOCHNER_PRECISION {

void refuse_attention(const MixerSpec& spec) {
  const char* kind = spec.kind.c_str();
  require(spec.time_kernel.kind == "none", kind,
          "has a memory of its own, and no time kernel: wants time_kernel = \"none\"");
  require(!spec.rotary && spec.normalize == "none" && spec.time.kind == "none", kind,
          "has no queries and keys to turn, to norm or to give times to: wants positions other "
          "than \"rotary\", normalize \"none\" and no model.time in the blocks");
  require(spec.window == 0, kind, "has no window");
}

OptionalConvolution::OptionalConvolution(const MixerSpec& spec) {
  if (spec.convolution > 0)
    convolution_ = std::make_unique<ShortConvolution>(spec.convolution, spec.width);
}

Var OptionalConvolution::forward(Tape& tape, const Var& x) {
  return convolution_ ? convolution_->forward(tape, x) : x;
}

Var OptionalConvolution::step(Tape& tape, const Var& x, MixerState& state) {
  if (!convolution_) return x;
  state.recent.resize(1);
  return convolution_->step(tape, x, state.recent[0]);
}

void OptionalConvolution::visit(Visitor& visitor) {
  if (convolution_) visitor("convolution", *convolution_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
