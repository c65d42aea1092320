#include <bochner/autodiff/ops/sequence.hpp>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace short_convolution_test {

using op_check::is_double;
using op_check::random_tensor;

TEST(ShortConvolution, EqualsTheSumOverTheLastTokens) {
  const std::size_t B = 2, T = 9, D = 3, K = 4;
  const Tensor x = random_tensor({B, T, D}, 1), w = random_tensor({K, D}, 2);
  const Tensor y = short_convolution(x, w).value();
  for (std::size_t b = 0; b < B; ++b) {
    for (std::size_t t = 0; t < T; ++t) {
      for (std::size_t c = 0; c < D; ++c) {
        double expected = 0;
        for (std::size_t j = 0; j < K && j <= t; ++j)
          expected += double(w(j, c)) * double(x(b, t - j, c));
        EXPECT_NEAR(y(b, t, c), expected, is_double ? 1e-14 : 1e-5);
      }
    }
  }
}

TEST(ShortConvolution, NeverSeesTheFutureToTheBit) {
  Tensor x = random_tensor({1, 20, 5}, 1);
  const Tensor w = random_tensor({3, 5}, 2), before = short_convolution(x, w).value();
  x(0, 12, 2) += 1;
  const Tensor after = short_convolution(x, w).value();
  EXPECT_EQ(std::memcmp(before.data(), after.data(), 12 * 5 * sizeof(real)), 0);
  EXPECT_NE(before(0, 14, 2), after(0, 14, 2));
  EXPECT_EQ(before(0, 15, 2), after(0, 15, 2));
}

TEST(ShortConvolution, NamesShapesThatDoNotFit) {
  EXPECT_EQ(op_check::error_of([] {
              short_convolution(Tensor(zeros({1, 2, 3})), Tensor(zeros({4, 2})));
            }),
            "[short_convolution] w must be (K, D) for x (B, T, D): x (1, 2, 3), w (4, 2)");
}

}  // namespace short_convolution_test
}  // namespace bochner::inline BOCHNER_PRECISION
