#include <bochner/autodiff/compute/fft.hpp>
#include <bochner/autodiff/ops/fourier/fourier.hpp>
#include <cmath>
#include <numbers>

#include "autodiff/op_check.hpp"
#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_fourier_test {

using op_check::is_double;
using op_check::random_tensor;

OpRow inverse_row(const char* variant, std::size_t n, std::vector<Shapes> shapes) {
  return {"ifft", variant, [n](Tape&, const std::vector<Var>& x) { return ifft(x[0], n); },
          std::move(shapes)};
}

// Even, odd, prime and every radix, a single element, no row, more rows than lanes and tasks.
INSTANTIATE_TEST_SUITE_P(
    Fourier, OpTest,
    ::testing::Values(OpRow{"fft",
                            "",
                            [](Tape&, const std::vector<Var>& x) { return fft(x[0]); },
                            {{{2, 3, 8}},
                             {{5, 7}},
                             {{12}},
                             {{17, 34}},
                             {{3, 1}},
                             {{2, 2}},
                             {{0, 4}},
                             {{37, 210}},
                             {{2, 143}}}},
                      inverse_row("", 8, {{{2, 3, 2, 5}}, {{37, 2, 5}}, {{0, 2, 5}}}),
                      inverse_row("Odd", 15, {{{3, 2, 8}}, {{2, 8}}}),
                      inverse_row("Prime", 37, {{{3, 2, 19}}}),
                      inverse_row("Short", 2, {{{3, 2, 2}}}), inverse_row("One", 1, {{{3, 2, 1}}})),
    test_name);

/// A run may have batches of many lengths; a streamed one has sixteen transforms.
TEST(RealFft, RemembersTheLastSixteenLengths) {
  const std::weak_ptr<const RealFft> first = RealFft::of(3001), second = RealFft::of(3002);
  for (std::size_t n = 1; n < 15; ++n) RealFft::of(n);
  EXPECT_EQ(RealFft::of(3001), first.lock());
  RealFft::of(15);
  EXPECT_FALSE(first.expired());
  EXPECT_TRUE(second.expired());
}

/// Only Bluestein's transform and odd lengths take more than the pairs of elements.
TEST(RealFft, TakesAsMuchScratchMemoryAsPairs) {
  EXPECT_EQ(RealFft(1024).scratch(), 512u);
  EXPECT_EQ(RealFft(15).scratch(), 30u);
}

/// Returns cos and sin of 2 pi j / n for j < n, to double accuracy.
std::vector<std::pair<double, double>> turns_of(std::size_t n) {
  std::vector<std::pair<double, double>> turns;
  for (std::size_t j = 0; j < n; ++j) {
    const long double angle = 2 * std::numbers::pi_v<long double> * (long double)(j) / n;
    turns.emplace_back(double(std::cos(angle)), double(std::sin(angle)));
  }
  return turns;
}

/// Returns the largest error of a bin against direct sums, relative to the length of the rows.
double error_of_transform(std::size_t n) {
  const Tensor x = random_tensor({2, n}, n), y = fft(Var(x)).value();
  const auto turns = turns_of(n);
  double worst = 0, square = 0;
  for (std::size_t t = 0; t < n; ++t) square += double(x(0, t)) * double(x(0, t));
  for (std::size_t k = 0; k < n / 2 + 1; ++k) {
    for (std::size_t row : {0, 1}) {
      double re = 0, im = 0;
      for (std::size_t t = 0; t < n; ++t) {
        const auto [c, s] = turns[t * k % n];
        re += double(x(row, t)) * c;
        im -= double(x(row, t)) * s;
      }
      worst = std::max(
          {worst, std::abs(re - double(y(row, 0, k))), std::abs(im - double(y(row, 1, k)))});
    }
  }
  return worst / std::sqrt(square);
}

TEST(Fourier, EveryLengthEqualsDirectSums) {
  for (std::size_t n = 1; n <= 300; ++n)
    ASSERT_LT(error_of_transform(n), is_double ? 1e-12 : 1e-5) << "length " << n;
}

TEST(Fourier, LargePrimesEqualDirectSums) {
  for (std::size_t n : {1009, 2003, 4999, 10007})
    EXPECT_LT(error_of_transform(n), is_double ? 1e-12 : 1e-5) << "length " << n;
}

TEST(Fourier, TheInverseIsOne) {
  for (std::size_t n = 1; n <= 300; ++n) {
    const Tensor x = random_tensor({3, n}, n);
    op_check::expect_near(ifft(fft(Var(x)), n).value(), x, is_double ? 1e-12 : 1e-5);
  }
}

/// A real row has no imaginary part at bin 0, so its gradient is zero.
TEST(Fourier, BinsThatMirrorThemselvesAreReal) {
  Tape tape;
  const Var x = tape.input(random_tensor({2, 5}, 1));
  Tensor spectra = x.value();
  spectra.reshape({1, 2, 5});
  const Var bins = tape.input(spectra), y = ifft(bins, 8);
  tape.backward(y, random_tensor({1, 8}, 2));
  const Tensor gradient = gradient_of(bins);
  EXPECT_EQ(gradient(0, 1, 0), real(0));
  EXPECT_EQ(gradient(0, 1, 4), real(0));
  EXPECT_NE(gradient(0, 1, 1), real(0));
}

/// Whatever other rows and lanes contain, and however many there are.
TEST(Fourier, ARowHasBitsOfItsOwn) {
  for (std::size_t n : {24, 45, 37}) {
    const Tensor many = random_tensor({40, n}, 3);
    const Tensor all = fft(Var(many)).value();
    for (std::size_t row : {0, 5, 39}) {
      Tensor one = uninitialized({1, n});
      std::copy_n(many.data() + row * n, n, one.data());
      const Tensor alone = fft(Var(one)).value();
      EXPECT_EQ(
          std::memcmp(alone.data(), all.data() + row * alone.size(), alone.size() * sizeof(real)),
          0);
    }
  }
}

TEST(Fourier, SaysWhatItCannotTransform) {
  EXPECT_EQ(op_check::error_of([] {
              fft(Tensor(zeros({3, 0})));
            }),
            "[fft] rows must have at least one element: (3, 0)");
  EXPECT_EQ(op_check::error_of([] {
              ifft(Tensor(zeros({2, 4})), 8);
            }),
            "[ifft] rows of 8 need x (.., 2, 5), n >= 1: (2, 4)");
}

}  // namespace ops_fourier_test
}  // namespace bochner::inline BOCHNER_PRECISION
