#include "layers/convolutions/chosen_mixer.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace h3_test {

using namespace chosen_mixer;

/// The parameters of Linear, split among its outputs: x W + b, columns first .. first + width - 1.
Tensor projected(Mixer& mixer, const Tensor& x, std::size_t first) {
  const Tensor *weight = nullptr, *bias = nullptr;
  for (const NamedParameter& named : parameters_of(mixer)) {
    if (named.name == "projections.weight") weight = &named.parameter->value();
    if (named.name == "projections.bias") bias = &named.parameter->value();
  }
  const std::size_t T = x.shape()[1];
  Tensor y = zeros({T, width});
  for (std::size_t t = 0; t < T; ++t) {
    for (std::size_t c = 0; c < width; ++c) {
      double sum = (*bias)(first + c);
      for (std::size_t e = 0; e < width; ++e)
        sum += double(x(0, t, e)) * double((*weight)(e, first + c));
      y(t, c) = real(sum);
    }
  }
  return y;
}

/// y = D_q S_diag D_k' v with k' = S_shift k, state spaces as triangular Toeplitz matrices.
TEST(H3Mixer, IsItsMatrix) {
  const auto mixer = make({"h3", {{"h3.shift", "7"}}});
  initialize(*mixer, 3);
  set_parameter(*mixer, "output.weight", identity(width, width));
  set_parameter(*mixer, "output.bias", zeros({width}));
  const std::size_t T = 150;
  const Tensor x = random_tensor({1, T, width}, 1);
  Tape tape;
  tape.recording = false;
  const Tensor y = mixer->forward(tape, x).value();
  const Tensor q = projected(*mixer, x, 0), k = projected(*mixer, x, width),
               v = projected(*mixer, x, 2 * width);
  const Tensor shift = filter_of(*mixer, "shift").past(T, 0, width);
  const Tensor diagonal = filter_of(*mixer).past(T, 0, width);
  EXPECT_EQ(shift.shape()[0], 7u);
  for (std::size_t c = 0; c < width; ++c) {
    std::vector<double> shifted(T);
    for (std::size_t t = 0; t < T; ++t)
      for (std::size_t j = 0; j < 7 && j <= t; ++j)
        shifted[t] += double(shift(j, c)) * double(k(t - j, c));
    for (std::size_t t = 0; t < T; ++t) {
      double expected = 0;  // row t of the matrix times v
      for (std::size_t s = 0; s <= t; ++s)
        expected += double(q(t, c)) * double(diagonal(t - s, c)) * shifted[s] * double(v(s, c));
      ASSERT_NEAR(y(0, t, c), expected, (is_double ? 1e-12 : 1e-5) * (1 + std::abs(expected))) << t;
    }
  }
}

/// In heads of more channels: y = q^T sum over s of h_(t-s) k'_s v_s^T.
TEST(H3Mixer, RemembersAllProductsOfAHead) {
  const std::size_t T = 120, channels = 3;
  const auto mixer = make({"h3", {{"h3.shift", "7"}, {"h3.channels", "3"}}});
  set_parameter(*mixer, "output.weight", identity(width, width));
  set_parameter(*mixer, "output.bias", zeros({width}));
  const Tensor x = random_tensor({1, T, width}, 1);
  Tape tape;
  tape.recording = false;
  const Tensor y = mixer->forward(tape, x).value();
  const Tensor q = projected(*mixer, x, 0), k = projected(*mixer, x, width),
               v = projected(*mixer, x, 2 * width);
  const Tensor shift = filter_of(*mixer, "shift").past(T, 0, width);
  const Tensor diagonal = filter_of(*mixer).past(T, 0, width / channels);
  ASSERT_EQ(diagonal.shape()[1], width / channels);
  const auto shifted = [&](std::size_t t, std::size_t c) {
    double sum = 0;
    for (std::size_t j = 0; j < 7 && j <= t; ++j) sum += double(shift(j, c)) * double(k(t - j, c));
    return sum;
  };
  for (std::size_t t : {0, 5, 119}) {
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t head = c / channels;
      double expected = 0;
      for (std::size_t s = 0; s <= t; ++s)
        for (std::size_t i = head * channels; i < (head + 1) * channels; ++i)
          expected +=
              double(q(t, i)) * double(diagonal(t - s, head)) * shifted(s, i) * double(v(s, c));
      ASSERT_NEAR(y(0, t, c), expected, (is_double ? 1e-12 : 1e-5) * (1 + std::abs(expected))) << t;
    }
  }
  EXPECT_THAT(op_check::error_of([] {
                make({"h3", {{"h3.channels", "4"}}});
              }),
              testing::HasSubstr("[h3] channels = 4 of a head must divide the width 6"));
}

}  // namespace h3_test
}  // namespace bochner::inline BOCHNER_PRECISION
