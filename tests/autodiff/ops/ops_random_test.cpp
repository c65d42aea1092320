#include <bochner/autodiff/ops/elementwise.hpp>
#include <limits>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_random_test {

using namespace op_check;

struct Masks {
  Tensor forward, backward;
};

/// Returns dropout of ones, forward and backward.
Masks masks(std::size_t n, real rate, std::uint64_t seed = 1, std::uint64_t step = 0) {
  Tape tape;
  tape.training = true;
  tape.seed = seed;
  tape.step = step;
  const Var x = tape.input(filled({n}, 1));
  const Var y = dropout(tape, x, rate);
  tape.backward(y, filled({n}, 1));
  return {y.value(), gradient_of(x)};
}

TEST(Dropout, DropsAtItsRate) {
  for (double rate : {0.1, 0.5, 0.9}) {
    const std::size_t n = 200003;
    const Masks mask = masks(n, real(rate));
    double dropped = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const real y = mask.forward.data()[i];
      ASSERT_TRUE(y == 0 || y == 1 / (1 - real(rate))) << y;
      dropped += y == 0;
    }
    EXPECT_NEAR(dropped, rate * double(n), 5 * std::sqrt(double(n) * rate * (1 - rate)));
  }
}

TEST(RandomFunction, FillsTheSameBits) {
  const RandomFunction random{12345678901234567, Purpose::dropout, 98765432109876543};
  for (std::uint64_t first : {std::uint64_t(0), (std::uint64_t(1) << 32) - 3}) {
    for (std::size_t count : {1, 15, 16, 17, 40}) {
      std::vector<std::uint32_t> words(4 * count + 1, 7);
      random.fill_bits(first, count, words.data());
      for (std::size_t i = 0; i < 4 * count; ++i)
        ASSERT_EQ(words[i], random.bits(first + i / 4)[i % 4]);
      EXPECT_EQ(words.back(), 7u);
    }
  }
}

/// Neighbours share a block of random bits; they must be dropped independently of each other.
TEST(Dropout, DropsNeighboursIndependently) {
  const std::size_t n = 200000;
  const Masks mask = masks(n, real(0.5));
  for (std::size_t distance : {1, 2, 3, 4}) {
    double together = 0;
    for (std::size_t i = 0; i + distance < n; ++i)
      together += mask.forward.data()[i] == 0 && mask.forward.data()[i + distance] == 0;
    EXPECT_NEAR(together, double(n) / 4, 5 * std::sqrt(double(n) * 3 / 16 * 2)) << distance;
  }
}

TEST(Dropout, UsesOneMaskForwardAndBackward) {
  for (std::size_t n : {0, 1, 5, 100003}) {
    const Masks mask = masks(n, real(0.3));
    expect_equal_bits(mask.forward, mask.backward);
  }
}

TEST(Dropout, IsAFunctionOfSeedStepAndUse) {
  const Tensor first = masks(1000, real(0.5)).forward;
  expect_equal_bits(masks(1000, real(0.5)).forward, first);
  EXPECT_NE(masks(1000, real(0.5), 2).forward, first);
  EXPECT_NE(masks(1000, real(0.5), 1, 1).forward, first);
  Tape tape;
  tape.training = true;
  tape.seed = 1;
  const Tensor ones = filled({1000}, 1);
  expect_equal_bits(dropout(tape, ones, real(0.5)).value(), first);
  EXPECT_NE(dropout(tape, ones, real(0.5)).value(), first);
}

TEST(Dropout, IsTheIdentityOutsideTraining) {
  Tape tape;
  const Var x = tape.input(random_tensor({5}, 1));
  EXPECT_EQ(dropout(tape, x, real(0.5)).node(), x.node());
  tape.training = true;
  EXPECT_EQ(dropout(tape, x, 0).node(), x.node());
  EXPECT_EQ(tape.random_uses, 0u);
}

TEST(Dropout, LeavesNothingOfADroppedInfinity) {
  Tape tape;
  tape.training = true;
  const Tensor y =
      dropout(tape, filled({100}, std::numeric_limits<real>::infinity()), real(0.5)).value();
  for (std::size_t i = 0; i < 100; ++i) EXPECT_FALSE(std::isnan(y.data()[i]));
}

/// Compares the mean with Euler's constant, the variance with pi^2 / 6, and a share of draws.
TEST(GumbelNoise, IsFiniteAndHasItsDistribution) {
  const std::size_t n = 400000;
  Tape tape({.seed = 3});
  const Tensor noise = gumbel_noise(tape, {n}).value();
  double sum = 0, square = 0, below = 0;
  for (const real g : noise) {
    ASSERT_TRUE(std::isfinite(g));
    sum += double(g) / double(n);
    square += double(g) * double(g) / double(n);
    below += double(g < 0) / double(n);
  }
  EXPECT_NEAR(sum, 0.5772, 5 * 1.2825 / std::sqrt(double(n)));
  EXPECT_NEAR(square - sum * sum, 1.6449, 0.03);
  EXPECT_NEAR(below, std::exp(-1.0), 5 * 0.4823 / std::sqrt(double(n)));
  EXPECT_NE(gumbel_noise(tape, {n}).value(), noise);
}

TEST(Dropout, RefusesRatesOutsideItsRange) {
  Tape tape;
  EXPECT_EQ(error_of([&] { dropout(tape, zeros({2}), 1); }), "[dropout] rate must be in [0, 1): 1");
  EXPECT_THROW(dropout(tape, zeros({2}), real(-0.1)), std::invalid_argument);
  EXPECT_THROW(dropout(tape, zeros({2}), std::numeric_limits<real>::quiet_NaN()),
               std::invalid_argument);
}

}  // namespace ops_random_test
}  // namespace bochner::inline BOCHNER_PRECISION
