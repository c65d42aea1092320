#include "layers/convolutions/chosen_mixer.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace h3_test {

using namespace chosen_mixer;

/// Returns columns first .. first + width - 1 of the projection x W + b.
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

/// Outputs for random inputs with an identity output map, and the projections.
struct Answer {
  Tensor y, q, k, v, shift;  ///< (1, T, width), the others (T, width)

  /// Returns the shifted keys.
  double shifted(std::size_t t, std::size_t c) const {
    double sum = 0;
    for (std::size_t j = 0; j < shift.shape()[0] && j <= t; ++j)
      sum += double(shift(j, c)) * double(k(t - j, c));
    return sum;
  }
  void expect(std::size_t t, std::size_t c, double expected) const {
    ASSERT_NEAR(y(0, t, c), expected, (is_double ? 1e-12 : 1e-5) * (1 + std::abs(expected))) << t;
  }
};

Answer answer_of(Mixer& mixer, std::size_t T) {
  set_parameter(mixer, "output.weight", identity(width, width));
  set_parameter(mixer, "output.bias", zeros({width}));
  const Tensor x = random_tensor({1, T, width}, 1);
  Tape tape({.recording = false});
  return {mixer.forward(tape, x).value(), projected(mixer, x, 0), projected(mixer, x, width),
          projected(mixer, x, 2 * width), filter_of(mixer, "shift").past(T, 0, width)};
}

/// y = D_q S_diag D_k' v with k' = S_shift k and triangular Toeplitz matrices.
TEST(H3Mixer, IsItsMatrix) {
  const auto mixer = make({"h3", {{"h3.shift", "7"}}});
  initialize(*mixer, 3);
  const std::size_t T = 150;
  const Answer of = answer_of(*mixer, T);
  const Tensor diagonal = filter_of(*mixer).past(T, 0, width);
  EXPECT_EQ(of.shift.shape()[0], 7u);
  for (std::size_t c = 0; c < width; ++c) {
    for (std::size_t t = 0; t < T; ++t) {
      double expected = 0;  // row t of the matrix times v
      for (std::size_t s = 0; s <= t; ++s)
        expected +=
            double(of.q(t, c)) * double(diagonal(t - s, c)) * of.shifted(s, c) * double(of.v(s, c));
      ASSERT_NO_FATAL_FAILURE(of.expect(t, c, expected));
    }
  }
}

/// Heads of several channels: y = q^T sum over s of h_(t-s) k'_s v_s^T.
TEST(H3Mixer, RemembersAllProductsOfAHead) {
  const std::size_t T = 120, channels = 3;
  const auto mixer = make({"h3", {{"h3.shift", "7"}, {"h3.channels", "3"}}});
  const Answer of = answer_of(*mixer, T);
  const Tensor diagonal = filter_of(*mixer).past(T, 0, width / channels);
  ASSERT_EQ(diagonal.shape()[1], width / channels);
  EXPECT_EQ(of.shift.shape()[0], 7u);
  for (std::size_t t : {0, 5, 119}) {
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t head = c / channels;
      double expected = 0;
      for (std::size_t s = 0; s <= t; ++s)
        for (std::size_t i = head * channels; i < (head + 1) * channels; ++i)
          expected += double(of.q(t, i)) * double(diagonal(t - s, head)) * of.shifted(s, i) *
                      double(of.v(s, c));
      ASSERT_NO_FATAL_FAILURE(of.expect(t, c, expected));
    }
  }
  EXPECT_THAT(op_check::error_of([] {
                make({"h3", {{"h3.channels", "4"}}});
              }),
              testing::HasSubstr("[h3] channels = 4 must divide the width 6"));
}

}  // namespace h3_test
}  // namespace bochner::inline BOCHNER_PRECISION
