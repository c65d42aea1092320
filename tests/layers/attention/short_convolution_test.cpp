#include <bochner/layers/attention/projections.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace short_convolution_test {

using namespace layer_check;

TEST(ShortConvolution, IsDifferentiable) {
  ShortConvolution layer(4, 6);
  randomize(layer);
  check_layer(layer, random_tensor({2, 7, 6}, 1),
              [&](Tape& tape, const Var& x) { return layer.forward(tape, x); });
}

TEST(ShortConvolution, StepByStepEqualsTheBatchToTheBit) {
  const std::size_t T = 11, D = 6;
  for (const std::size_t taps : {1, 2, 4}) {
    ShortConvolution layer(taps, D);
    randomize(layer);
    const Tensor x = random_tensor({1, T, D}, 1);
    Tape tape;
    tape.recording = false;
    const Tensor batch = layer.forward(tape, x).value();
    Tensor recent;
    for (std::size_t t = 0; t < T; ++t) {
      Tensor token = uninitialized({1, 1, D});
      std::copy_n(x.data() + t * D, D, token.data());
      const Tensor y = layer.step(tape, token, recent).value();
      for (std::size_t c = 0; c < D; ++c) ASSERT_EQ(y.data()[c], batch.data()[t * D + c]) << t;
    }
  }
}

}  // namespace short_convolution_test
}  // namespace bochner::inline BOCHNER_PRECISION
