#include <bit>

#include "layers/convolutions/chosen_mixer.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace sgconv_test {

using namespace chosen_mixer;

/// Blocks of 1, 1, 2, 4, 8, 16 lags, each weight half of the previous one.
TEST(SgConvMixer, StartsWithAKernelOfNormOne) {
  for (const std::size_t length : {32, 21})
    for (const bool causal : {true, false}) {
      const auto mixer = make({"sgconv", {{"filter.length", std::to_string(length)}}}, causal);
      initialize(*mixer, 3);
      const Tensor& weight = parameters_of(*mixer)[0].parameter->value();
      const Tensor& norm = *buffers_of(*mixer)[0].tensor;
      const std::size_t blocks = 6, first = causal ? 0 : blocks;
      ASSERT_EQ(weight.shape()[0], first + blocks);
      for (std::size_t c = 0; c < width; ++c) {
        double square = 0;
        for (std::size_t lag = 0; lag < length; ++lag) {
          const std::size_t block = std::size_t(std::bit_width(lag));
          square += std::pow(std::exp2(5 - double(block)) * double(weight(first + block, c)), 2);
        }
        EXPECT_NEAR(norm(0, c), std::sqrt(square), 1e-4 * std::sqrt(square));
      }
    }
}

/// Opens the gate, so that the output is gelu of the convolution.
void show_convolution(Mixer& mixer) {
  Tensor bias = zeros({2 * width});
  std::fill_n(bias.data() + width, width, real(100));
  set_parameter(mixer, "output.weight", identity(width, 2 * width));
  set_parameter(mixer, "output.bias", bias);
}

/// An impulse in the middle, seen from both sides: blocks from lag 0 and from lag -1.
TEST(SgConvMixer, WeighsBothSidesByTheirBlocks) {
  const auto mixer = make({"sgconv", {{"filter.length", "32"}}}, false);
  initialize(*mixer, 3);
  show_convolution(*mixer);
  const Tensor &weight = parameters_of(*mixer)[0].parameter->value(),
               &skip = parameters_of(*mixer)[1].parameter->value(),
               &norm = *buffers_of(*mixer)[0].tensor;
  const std::size_t T = 61, middle = 30, blocks = 6;
  Tensor impulse = zeros({1, T, width});
  for (std::size_t c = 0; c < width; ++c) impulse(0, middle, c) = 1;
  Tape tape({.recording = false});
  const Tensor y = mixer->forward(tape, impulse).value();
  for (std::size_t t = 0; t < T; ++t) {
    const bool ahead = t < middle;  // the token sees the future
    const std::size_t lag = ahead ? middle - t - 1 : t - middle;
    const std::size_t block = std::size_t(std::bit_width(lag));
    const std::size_t row = ahead ? blocks - 1 - block : blocks + block;
    for (std::size_t c = 0; c < width; ++c) {
      const double kernel =
          std::exp2(5 - double(block)) * double(weight(row, c)) / double(norm(ahead ? 1 : 0, c)) +
          (t == middle ? double(skip(0, c)) : 0);
      EXPECT_NEAR(y(0, t, c), kernel * std::erfc(-kernel / std::sqrt(2.)) / 2, 2e-3) << t;
    }
  }
}

/// Prefix sums of constant pieces equal interpolated pieces of one value, the last ending with the
/// kernel.
TEST(SgConvMixer, IsTheLongConvolutionByItsPieces) {
  for (const char* length : {"32", "21"}) {
    const auto sums = make({"sgconv", {{"filter.length", length}}}),
               rows = make({"long_conv", {{"filter.length", length}, {"filter.kind", "dyadic"}}});
    initialize(*sums, 3);
    const std::vector<NamedParameter> from = parameters_of(*sums);
    set_parameter(*rows, "filter.past.weight", from[0].parameter->value());
    Tensor skip = from[1].parameter->value();
    set_parameter(*rows, "filter.skip", Tensor(skip.reshape(Shape{width})));
    Tensor& norm = *buffers_of(*rows)[0].tensor;
    const Tensor& start = *buffers_of(*sums)[0].tensor;
    std::copy_n(start.data(), width, norm.data());
    show_convolution(*sums);
    show_convolution(*rows);
    const Tensor x = random_tensor({2, 90, width}, 1);
    Tape tape({.recording = false});
    const Tensor a = sums->forward(tape, x).value(), b = rows->forward(tape, x).value();
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a.data()[i], b.data()[i], is_double ? 1e-12 : 1e-5) << length << ": " << i;
  }
}

}  // namespace sgconv_test
}  // namespace bochner::inline BOCHNER_PRECISION
