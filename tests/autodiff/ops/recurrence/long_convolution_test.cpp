#include <gmock/gmock.h>

#include <bochner/autodiff/compute/convolution.hpp>
#include <bochner/autodiff/compute/prefix_sums.hpp>
#include <bochner/autodiff/ops/recurrence/long_convolution.hpp>
#include <bochner/base/numeric/parallel.hpp>

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

// Kernels shorter and longer than the sequence, of one row; more sequences and channels than lanes,
// more sequences than blocks.
const std::vector<Shapes> causal_shapes = {
    {{2, 7, 3}, {4, 3}},  {{1, 1, 1}, {3, 1}},  {{0, 3, 2}, {2, 2}},   {{2, 0, 2}, {2, 2}},
    {{2, 3, 0}, {4, 0}},  {{3, 9, 2}, {1, 2}},  {{2, 5, 17}, {9, 17}}, {{3, 200, 17}, {31, 17}},
    {{37, 6, 2}, {6, 2}}, {{70, 6, 2}, {6, 2}}, {{2, 6, 2}, {40, 2}}};
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

OpRow prefix_row(const char* variant, std::vector<std::int64_t> edges,
                 std::vector<std::size_t> lengths, std::vector<Shapes> shapes) {
  return {"prefix_convolution", variant,
          [=](Tape&, const std::vector<Var>& x) {
            return prefix_convolution(x[0], x[1], edges, lengths);
          },
          std::move(shapes)};
}

INSTANTIATE_TEST_SUITE_P(
    PrefixConvolution, OpTest,
    ::testing::Values(prefix_row("", {0, 1, 2, 4, 8}, {},
                                 {{{2, 7, 3}, {4, 3}},
                                  {{1, 1, 1}, {4, 1}},
                                  {{0, 3, 2}, {4, 2}},
                                  {{2, 0, 2}, {4, 2}},
                                  {{37, 11, 2}, {4, 2}},
                                  {{70, 11, 2}, {4, 2}},
                                  {{3, 200, 17}, {4, 17}}}),
                      prefix_row("TwoSided", {-3, -1, 0, 2, 2, 9}, {}, {{{2, 7, 3}, {5, 3}}}),
                      prefix_row("Padded", {-3, -1, 0, 2, 3, 9}, {0, 5}, {{{2, 7, 3}, {5, 3}}})),
    test_name);

OpRow waves_row(const char* variant, std::size_t count, bool descending,
                std::vector<Shapes> shapes) {
  return {"exponential_kernels",
          variant,
          [=](Tape&, const std::vector<Var>& x) {
            return exponential_kernels(x[0], x[1], x[2], x[3], count, descending);
          },
          std::move(shapes),
          {0.05, 1}};
}

INSTANTIATE_TEST_SUITE_P(
    ExponentialKernels, OpTest,
    ::testing::Values(waves_row("", 23, false,
                                {{{3, 2}, {3, 2}, {3, 2}, {3, 2}},
                                 {{17, 1}, {17, 1}, {17, 1}, {17, 1}},
                                 {{2, 0}, {2, 0}, {2, 0}, {2, 0}}}),
                      waves_row("Descending", 23, true, {{{3, 2}, {3, 2}, {3, 2}, {3, 2}}}),
                      waves_row("Long", 1100, false, {{{3, 2}, {3, 2}, {3, 2}, {3, 2}}}),
                      waves_row("None", 0, false, {{{3, 2}, {3, 2}, {3, 2}, {3, 2}}})),
    test_name);

/// Computes by definition in double.
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

/// Returns the largest difference, relative to the root of the largest possible sum of squares.
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

/// Equals the sequence alone to the bit, whatever the padding contains.
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

/// Longer than a piece of direct sums: bit-equal at every position.
TEST(LongConvolution, HasTheSameSumsInEveryPiece) {
  const std::size_t T = 9001, moved = 1000;
  const std::vector<std::size_t> lengths = {8990};
  for (const std::size_t future : {0, 5, 16}) {
    const Tensor kernel = random_tensor({17, 2}, 1), x = random_tensor({1, T, 2}, 2);
    Tensor later = zeros(x.shape());
    std::copy_n(x.data(), (T - moved) * 2, later.data() + moved * 2);
    const LongConvolutionOptions options{.future = future, .lengths = lengths, .method = direct};
    const Tensor y = long_convolution(x, kernel, options).value(),
                 z = long_convolution(later, kernel, options).value();
    for (std::size_t i = 0; i < (lengths[0] - moved - future) * 2; ++i)
      ASSERT_EQ(z.data()[moved * 2 + i], y.data()[i]) << i / 2;
    for (std::size_t i = lengths[0] * 2; i < T * 2; ++i) ASSERT_EQ(y.data()[i], 0);
  }
}

std::vector<Tensor> gradients_of(const Tensor& x, const Tensor& kernel,
                                 const LongConvolutionOptions& options) {
  Parameter of_x{x}, of_kernel{kernel};
  Tape tape;
  const Var y = long_convolution(tape(of_x), tape(of_kernel), options);
  tape.backward(y, random_tensor(y.shape(), 3));
  return {of_x.gradient(), of_kernel.gradient()};
}

TEST(LongConvolution, HasTheSameGradientsInPiecesAsBySpectra) {
  const Tensor x = random_tensor({3, 9001, 2}, 2), kernel = random_tensor({17, 2}, 1);
  LongConvolutionOptions options{.future = 5, .lengths = {9001, 4097, 8192}, .method = direct};
  const std::vector<Tensor> summed = gradients_of(x, kernel, options);
  options.method = spectral;
  const std::vector<Tensor> transformed = gradients_of(x, kernel, options);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_LT(error_of(summed[i], transformed[i]), is_double ? 1e-12 : 1e-5);
}

/// Four bytes per token and channel, whatever the vector width.
TEST(LongConvolution, TakesScratchMemoryOfAPieceOnly) {
  set_thread_count(1);
  const Tensor x = random_tensor({1, 1 << 18, 1}, 2), kernel = random_tensor({4, 1}, 1);
  tensor_pool::trim();
  tensor_pool::reset_peak();
  const std::size_t before = tensor_pool::statistics().bytes_in_use;
  long_convolution(x, kernel, {.method = direct});
  EXPECT_LT(tensor_pool::statistics().peak_bytes_in_use - before, 3 * x.size() * sizeof(real));
  set_thread_count(0);
}

/// Otherwise bits would depend on the vector width; the same in float and double, too.
TEST(SequenceBlocks, AreCutByTheShapeAlone) {
  EXPECT_EQ(SequenceBlocks(16, 128).size, 4u);
  EXPECT_EQ(SequenceBlocks(16, 128).count, 4u);
  EXPECT_EQ(SequenceBlocks(70, 2).count, 35u);
  EXPECT_EQ(SequenceBlocks(5, 3).count, 5u);
}

/// Whatever other sequences and channels contain.
TEST(LongConvolution, ASequenceHasBitsOfItsOwn) {
  const Tensor x = random_tensor({5, 300, 4}, 1), kernel = random_tensor({300, 4}, 2);
  const Tensor all = long_convolution(x, kernel, {.method = spectral}).value();
  Tensor one = uninitialized({1, 300, 4});
  std::copy_n(x.data() + 3 * one.size(), one.size(), one.data());
  const Tensor alone = long_convolution(one, kernel, {.method = spectral}).value();
  EXPECT_EQ(std::memcmp(alone.data(), all.data() + 3 * one.size(), one.size() * sizeof(real)), 0);
}

/// Returns the kernel, row by row.
Tensor kernel_of(const Tensor& k, const std::vector<std::int64_t>& edges) {
  const std::size_t D = k.shape()[1];
  Tensor kernel = zeros({std::size_t(edges.back() - edges.front()), D});
  for (std::size_t s = 0; s + 1 < edges.size(); ++s)
    for (std::int64_t lag = edges[s]; lag < edges[s + 1]; ++lag)
      std::copy_n(k.data() + s * D, D, kernel.data() + std::size_t(lag - edges.front()) * D);
  return kernel;
}

TEST(PrefixConvolution, EqualsTheConvolution) {
  for (const bool both_ways : {false, true}) {
    const auto edges = dyadic_edges(256, both_ways);
    const Tensor x = random_tensor({2, 400, 5}, 1), k = random_tensor({edges.size() - 1, 5}, 2);
    const Tensor y = prefix_convolution(x, k, edges).value();
    const std::size_t future = both_ways ? 256 : 0;
    EXPECT_LT(error_of(y, direct_sum(x, kernel_of(k, edges), future)), is_double ? 1e-12 : 1e-6);
  }
  EXPECT_EQ(dyadic_edges(4, true), (std::vector<std::int64_t>{-4, -2, -1, 0, 1, 2, 4}));
  EXPECT_EQ(dyadic_edges(3, true), (std::vector<std::int64_t>{-3, -2, -1, 0, 1, 2, 3}));
  EXPECT_EQ(dyadic_edges(1, false), (std::vector<std::int64_t>{0, 1}));
}

/// In float too: prefix sums are double.
TEST(PrefixConvolution, LosesNoDigitsFarFromTheStart) {
  Tensor x = filled({1, 20000, 1}, 100);
  x(0, 19990, 0) = real(100.5);
  const Tensor y = prefix_convolution(x, filled({1, 1}, 1), {0, 4}).value();
  EXPECT_EQ(y(0, 19989, 0), real(400));
  EXPECT_EQ(y(0, 19992, 0), real(400.5));
  EXPECT_EQ(y(0, 19994, 0), real(400));
}

TEST(PrefixConvolution, StreamsAsTheBatch) {
  const Tensor x = random_tensor({1, 300, 5}, 1), k = random_tensor({6, 5}, 2);
  const auto edges = dyadic_edges(32, false);
  const Tensor batch = prefix_convolution(x, k, edges).value();
  PrefixStream stream(edges, 5, k.data());
  for (std::size_t t = 0; t < 300; ++t) {
    real y[5];
    stream.next(x.data() + 5 * t, y);
    for (std::size_t c = 0; c < 5; ++c)
      ASSERT_NEAR(y[c], batch(0, t, c), is_double ? 1e-12 : 1e-5) << t;
  }
}

TEST(DampedWaves, AreSumsOfExponentials) {
  const std::size_t C = 11, N = 3, count = 3000;
  Tensor rate = zeros({C, N}), frequency = random_tensor({C, N}, 1);
  const Tensor a = random_tensor({C, N}, 2), b = random_tensor({C, N}, 3);
  for (std::size_t i = 0; i < C * N; ++i) rate.data()[i] = real(std::exp(-double(i % 9)));
  const Tensor h = exponential_kernels(rate, frequency, a, b, count).value();
  for (std::size_t l = 0; l < count; l += l < 40 ? 1 : 97) {
    for (std::size_t c = 0; c < C; ++c) {
      double expected = 0;
      for (std::size_t n = 0; n < N; ++n) {
        const double phase = double(frequency(c, n)) * double(l);
        expected += std::exp(-double(rate(c, n)) * double(l)) *
                    (double(a(c, n)) * std::cos(phase) + double(b(c, n)) * std::sin(phase));
      }
      ASSERT_NEAR(h(l, c), expected, is_double ? 1e-12 : 2e-6) << l;
    }
  }
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
  const Tensor x = zeros({2, 4, 3});
  EXPECT_THAT(op_check::error_of([&] {
                long_convolution(x, zeros({4, 3}), {.lengths = {4, 5}});
              }),
              testing::HasSubstr("[long_convolution] a length of 5 exceeds T of x (2, 4, 3)"));
  EXPECT_THAT(op_check::error_of([&] {
                prefix_convolution(x, zeros({1, 3}), {0, 4}, {4, 5});
              }),
              testing::HasSubstr("[prefix_convolution] a length of 5 exceeds T of x (2, 4, 3)"));
}

TEST(PrefixStream, RefusesWhatIsNoPiece) {
  const real k[] = {1};
  for (const LagEdges& edges : {LagEdges{}, LagEdges{3}, LagEdges{-1, 2}, LagEdges{2, 1}})
    EXPECT_EQ(op_check::error_of([&] { PrefixStream(edges, 1, k); }),
              "[prefix_stream] a piece is between two ascending edges from 0 on");
}

}  // namespace long_convolution_test
}  // namespace bochner::inline BOCHNER_PRECISION
