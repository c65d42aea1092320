#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/basic/short_convolution.hpp>

namespace bochner::inline BOCHNER_PRECISION {

ShortConvolution::ShortConvolution(std::size_t taps, std::size_t width)
    : weight_({taps, width}, Initial::normal(0.1)), bias_({width}) {}

Var ShortConvolution::forward(Tape& tape, const Var& x) {
  return x + (short_convolution(x, tape(weight_)) + tape(bias_));
}

Var ShortConvolution::step(Tape& tape, const Var& x, Tensor& recent) {
  const std::size_t taps = weight_.shape()[0], D = weight_.shape()[1];
  std::copy(recent.data() + D, recent.data() + taps * D, recent.data());
  std::copy_n(x.data(), D, recent.data() + (taps - 1) * D);
  return slice(forward(tape, tape.constant(recent)), 1, taps - 1, taps);
}

void ShortConvolution::visit(Visitor& visitor) {
  visitor("weight", weight_);
  visitor("bias", bias_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
