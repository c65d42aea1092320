#include <bochner/autodiff/ops/sequence.hpp>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace rotary_test {

using op_check::is_double;
using op_check::random_tensor;

constexpr double epsilon = is_double ? 1e-12 : 1e-5;

Tensor rotated(const Tensor& x, std::size_t first) { return rotary(x, first).value(); }

double dot(const Tensor& x, const Tensor& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += double(x.data()[i]) * double(y.data()[i]);
  return sum;
}

TEST(Rotary, ProductsDependOnTheDistanceOnly) {
  const Tensor q = random_tensor({1, 1, 1, 16}, 1), k = random_tensor({1, 1, 1, 16}, 2);
  for (std::size_t distance : {0, 1, 5, 100}) {
    const double expected = dot(rotated(q, distance), rotated(k, 0));
    for (std::size_t first : {1, 17, 1000})
      EXPECT_NEAR(dot(rotated(q, first + distance), rotated(k, first)), expected, 20 * epsilon);
  }
  EXPECT_GT(std::abs(dot(rotated(q, 5), k) - dot(q, k)), 0.1);
}

TEST(Rotary, KeepsLengthsAndPositionZero) {
  const Tensor x = random_tensor({2, 9, 3, 8}, 1), y = rotated(x, 0);
  EXPECT_NEAR(dot(y, y), dot(x, x), 100 * epsilon);
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t i = 0; i < 3 * 8; ++i)
      EXPECT_EQ(y.data()[b * 9 * 24 + i], x.data()[b * 9 * 24 + i]);
  }
}

TEST(Rotary, StartsAtAnyPosition) {
  const Tensor x = random_tensor({1, 70, 2, 6}, 1), whole = rotated(x, 0);
  Tensor part = uninitialized({1, 20, 2, 6});
  std::copy_n(x.data() + 50 * 12, part.size(), part.data());
  const Tensor expected = rotated(part, 50);
  for (std::size_t i = 0; i < part.size(); ++i)
    EXPECT_EQ(expected.data()[i], whole.data()[50 * 12 + i]);
}

/// A float phase of a million radians keeps only its first digits.
TEST(Rotary, IsAccurateAtPositionOneMillion) {
  const std::size_t d = 16, first = 1000000;
  const Tensor x = random_tensor({1, 3, 1, d}, 1), y = rotated(x, first);
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t i = 0; i < d / 2; ++i) {
      const long double phase =
          (long double)(first + t) * std::pow(10000.0L, -(long double)(2 * i) / (long double)(d));
      const long double a = x.data()[t * d + i], b = x.data()[t * d + d / 2 + i];
      const long double cosine = std::cos(phase), sine = std::sin(phase);
      EXPECT_NEAR(double(y.data()[t * d + i]), double(a * cosine - b * sine),
                  is_double ? 1e-9 : 1e-6);
      EXPECT_NEAR(double(y.data()[t * d + d / 2 + i]), double(a * sine + b * cosine),
                  is_double ? 1e-9 : 1e-6);
    }
  }
}

TEST(Rotary, WantsPairs) {
  EXPECT_EQ(op_check::error_of([] {
              rotary(Tensor(zeros({1, 2, 2, 3})));
            }),
            "[rotary] x must be (B, T, H, d) with even d: x (1, 2, 2, 3)");
}

}  // namespace rotary_test
}  // namespace bochner::inline BOCHNER_PRECISION
