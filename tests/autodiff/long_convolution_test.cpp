#include <bochner/autodiff/ops/long_convolution.hpp>

#include "autodiff/op_check.hpp"
#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace long_convolution_test {

using op_check::is_double;
using op_check::random_tensor;

constexpr ConvolutionMethod direct = ConvolutionMethod::direct,
                            spectral = ConvolutionMethod::spectral;

OpRow row(const char* variant, LongConvolutionOptions options, std::vector<Shapes> shapes) {
  return {"long_convolution", variant,
          [=](Tape&, const std::vector<Var>& x) { return long_convolution(x[0], x[1], options); },
          std::move(shapes)};
}

// Kernels shorter and longer than the sequence, of one row, more sequences and channels than lanes.
const std::vector<Shapes> causal_shapes = {
    {{2, 7, 3}, {4, 3}},  {{1, 1, 1}, {3, 1}}, {{0, 3, 2}, {2, 2}},   {{2, 0, 2}, {2, 2}},
    {{2, 3, 0}, {4, 0}},  {{3, 9, 2}, {1, 2}}, {{2, 5, 17}, {9, 17}}, {{3, 200, 17}, {31, 17}},
    {{37, 6, 2}, {6, 2}}, {{2, 6, 2}, {40, 2}}};
const std::vector<Shapes> two_sided_shapes = {
    {{2, 7, 3}, {6, 3}}, {{1, 1, 1}, {4, 1}}, {{2, 9, 2}, {24, 2}}, {{3, 200, 17}, {31, 17}}};

INSTANTIATE_TEST_SUITE_P(
    LongConvolution, OpTest,
    ::testing::Values(row("", {}, causal_shapes), row("Direct", {.method = direct}, causal_shapes),
                      row("Spectral", {.method = spectral}, causal_shapes),
                      row("DirectTwoSided", {.future = 3, .method = direct}, two_sided_shapes),
                      row("SpectralTwoSided", {.future = 3, .method = spectral}, two_sided_shapes),
                      row("DirectPadded", {.future = 1, .lengths = {5, 0}, .method = direct},
                          {{{2, 7, 3}, {6, 3}}}),
                      row("SpectralPadded", {.future = 1, .lengths = {5, 0}, .method = spectral},
                          {{{2, 7, 3}, {6, 3}}})),
    test_name);

/// By the definition, in double.
Tensor direct_sum(const Tensor& x, const Tensor& kernel, std::size_t future) {
  const auto B = x.shape()[0], T = x.shape()[1], D = x.shape()[2], L = kernel.shape()[0];
  Tensor y = zeros(x.shape());
  for (std::size_t b = 0; b < B; ++b) {
    for (std::size_t t = 0; t < T; ++t) {
      for (std::size_t c = 0; c < D; ++c) {
        double sum = 0;
        for (std::size_t i = 0; i < L; ++i)
          if (t + future >= i && t + future - i < T)
            sum += double(kernel(i, c)) * double(x(b, t + future - i, c));
        y(b, t, c) = real(sum);
      }
    }
  }
  return y;
}

/// Largest difference, relative to the root of the sum of squares that an output can have.
double error_of(const Tensor& y, const Tensor& expected) {
  double worst = 0, square = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    worst = std::max(worst, std::abs(double(y.data()[i]) - double(expected.data()[i])));
    square += double(expected.data()[i]) * double(expected.data()[i]);
  }
  return worst / std::sqrt(square / double(y.size()));
}

TEST(LongConvolution, EqualsTheDirectSum) {
  for (const auto method : {direct, spectral}) {
    for (const std::size_t T : {1, 2, 3, 16, 37, 100, 257, 1000}) {
      for (const std::size_t L : {1, 2, 5, 64, 257, 1300}) {
        for (const std::size_t future : {std::size_t(0), L / 2, L - 1}) {
          const Tensor x = random_tensor({2, T, 3}, T), kernel = random_tensor({L, 3}, L);
          const Tensor y =
              long_convolution(x, kernel, {.future = future, .method = method}).value();
          ASSERT_LT(error_of(y, direct_sum(x, kernel, future)), is_double ? 1e-12 : 1e-5)
              << T << " tokens, " << L << " rows, future " << future;
        }
      }
    }
  }
}

/// Whatever a sequence holds behind its length, to the bit, and as the sequence is alone.
TEST(LongConvolution, DoesNotSeePadding) {
  const std::vector<std::size_t> lengths = {300, 0, 17, 299};
  for (const auto method : {direct, spectral}) {
    const LongConvolutionOptions options{.future = 40, .lengths = lengths, .method = method};
    const Tensor kernel = random_tensor({200, 5}, 1);
    Tensor x = random_tensor({4, 300, 5}, 2);
    const Tensor before = long_convolution(x, kernel, options).value();
    for (std::size_t b = 0; b < 4; ++b) {
      Tensor alone = uninitialized({1, lengths[b], 5});
      std::copy_n(x.data() + b * 1500, alone.size(), alone.data());
      const Tensor expected = long_convolution(alone, kernel, {.future = 40}).value();
      for (std::size_t i = 0; i < 1500; ++i)
        ASSERT_NEAR(before.data()[b * 1500 + i], i < alone.size() ? expected.data()[i] : 0,
                    is_double ? 1e-11 : 1e-3);
      for (std::size_t i = alone.size(); i < 1500; ++i) x.data()[b * 1500 + i] += 100;
    }
    op_check::expect_equal_bits(long_convolution(x, kernel, options).value(), before);
  }
}

TEST(LongConvolution, NeverSeesTheFuture) {
  for (const auto method : {direct, spectral}) {
    Tensor x = random_tensor({1, 400, 5}, 1);
    const Tensor kernel = random_tensor({400, 5}, 2);
    const LongConvolutionOptions options{.method = method};
    const Tensor before = long_convolution(x, kernel, options).value();
    for (std::size_t i = 200 * 5; i < x.size(); ++i) x.data()[i] += 1;
    const Tensor after = long_convolution(x, kernel, options).value();
    if (method == direct) {
      EXPECT_EQ(std::memcmp(before.data(), after.data(), 200 * 5 * sizeof(real)), 0);
    }
    for (std::size_t i = 0; i < 200 * 5; ++i)
      ASSERT_NEAR(before.data()[i], after.data()[i], (is_double ? 1e-12 : 1e-5) * 20);
    EXPECT_NE(before(0, 200, 0), after(0, 200, 0));
  }
}

/// Whatever stands beside it: other sequences and other channels.
TEST(LongConvolution, ASequenceHasBitsOfItsOwn) {
  const Tensor x = random_tensor({5, 300, 4}, 1), kernel = random_tensor({300, 4}, 2);
  const Tensor all = long_convolution(x, kernel, {.method = spectral}).value();
  Tensor one = uninitialized({1, 300, 4});
  std::copy_n(x.data() + 3 * one.size(), one.size(), one.data());
  const Tensor alone = long_convolution(one, kernel, {.method = spectral}).value();
  EXPECT_EQ(std::memcmp(alone.data(), all.data() + 3 * one.size(), one.size() * sizeof(real)), 0);
}

TEST(LongConvolution, SaysWhatDoesNotFit) {
  EXPECT_EQ(op_check::error_of([] {
              long_convolution(Tensor(zeros({1, 2, 3})), Tensor(zeros({4, 2})));
            }),
            "[long_convolution] kernel must be (L, D) for x (B, T, D): x (1, 2, 3), kernel (4, 2)");
  EXPECT_EQ(
      op_check::error_of([] {
        long_convolution(Tensor(zeros({1, 2, 3})), Tensor(zeros({4, 3})), {.future = 4});
      }),
      "[long_convolution] future = 4 must be below the kernel's 4 rows: lag 0 is one of them");
}

}  // namespace long_convolution_test
}  // namespace bochner::inline BOCHNER_PRECISION
