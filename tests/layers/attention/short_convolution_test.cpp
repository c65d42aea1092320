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
    Tape tape({.recording = false});
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

/// Uniform taps and bias, as published for Hyena, with the added token subtracted.
TEST(ShortConvolution, StartsAsAMixtureIfWanted) {
  const std::size_t taps = 4, D = 50;
  ShortConvolution layer(taps, D, ConvolutionInit::mixing);
  initialize(layer, 3);
  Tensor impulse = zeros({1, taps, D});
  std::fill_n(impulse.data(), D, real(1));
  Tape tape;
  const Tensor y = layer.forward(tape, impulse).value(),
               rest = layer.forward(tape, zeros(impulse.shape())).value();
  double square = 0, bias = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double tap = double(y.data()[i]) - double(rest.data()[i]);
    EXPECT_LE(std::abs(tap), 0.5 + 1e-6);
    square += tap * tap / double(y.size()), bias += std::pow(rest.data()[i], 2.) / double(y.size());
  }
  EXPECT_NEAR(square, 1. / 12, 5 * std::sqrt(1. / 180 / 200));  // 200 numbers
  EXPECT_NEAR(bias, 1. / 12, 5 * std::sqrt(1. / 180 / 50));
}

}  // namespace short_convolution_test
}  // namespace bochner::inline BOCHNER_PRECISION
