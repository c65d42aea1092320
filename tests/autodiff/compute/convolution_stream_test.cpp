#include <bochner/autodiff/compute/convolution_stream.hpp>
#include <bochner/autodiff/ops/recurrence/long_convolution.hpp>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace convolution_stream_test {

using op_check::is_double;
using op_check::random_tensor;

/// Returns the first rows of a kernel.
ConvolutionStream::Kernel lags_of(const Tensor& kernel) {
  return [kernel](std::size_t count) {
    Tensor rows = uninitialized({std::min(count, kernel.shape()[0]), kernel.shape()[1]});
    std::copy_n(kernel.data(), rows.size(), rows.data());
    return rows;
  };
}

/// Kernels of one lag, of a power of two, shorter and longer than the sequence.
TEST(ConvolutionStream, EqualsTheBatch) {
  const std::size_t T = 700, D = 19;
  const Tensor x = random_tensor({1, T, D}, 1);
  for (const std::size_t lags : {1, 2, 3, 16, 64, 100, 128, 300, 1000}) {
    const Tensor kernel = random_tensor({lags, D}, lags);
    const Tensor batch = long_convolution(x, kernel).value();
    ConvolutionStream stream(D, lags, lags_of(kernel));
    std::vector<real> y(D);
    for (std::size_t t = 0; t < T; ++t) {
      stream.next(x.data() + t * D, y.data());
      for (std::size_t c = 0; c < D; ++c)
        ASSERT_NEAR(y[c], batch(0, t, c), (is_double ? 1e-13 : 2e-5) * std::sqrt(double(lags)) * 5)
            << lags << " lags, token " << t;
    }
  }
}

/// An endless kernel is evaluated only as far as needed.
TEST(ConvolutionStream, AsksForLagsAsItSeesTokens) {
  const Tensor kernel = random_tensor({4096, 2}, 3);
  std::vector<std::size_t> asked;
  ConvolutionStream stream(2, std::numeric_limits<std::size_t>::max(), [&](std::size_t count) {
    asked.push_back(count);
    return lags_of(kernel)(count);
  });
  const Tensor x = random_tensor({1, 600, 2}, 4), batch = long_convolution(x, kernel).value();
  real y[2];
  for (std::size_t t = 0; t < 600; ++t) {
    stream.next(x.data() + 2 * t, y);
    ASSERT_NEAR(y[1], batch(0, t, 1), is_double ? 1e-11 : 2e-3) << t;
  }
  EXPECT_EQ(asked, (std::vector<std::size_t>{128, 256, 512, 1024, 2048}));
}

/// Too many rows, or rows with other channels.
TEST(ConvolutionStream, RefusesAKernelOfAnotherShape) {
  for (const Shape& shape : {Shape{129, 2}, {3, 1}, {3, 3}, {6}}) {
    ConvolutionStream stream(2, 1000, [&](std::size_t) { return zeros(shape); });
    const real x[] = {1, 2};
    real y[2];
    for (int attempt = 0; attempt < 2; ++attempt)  // no kernel was cached
      EXPECT_EQ(
          op_check::error_of([&] { stream.next(x, y); }),
          "[convolution_stream] the kernel must be at most (128, 2) and is " + to_string(shape));
  }
}

}  // namespace convolution_stream_test
}  // namespace bochner::inline BOCHNER_PRECISION
