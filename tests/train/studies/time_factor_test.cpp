#include <gtest/gtest.h>

#include <bochner/train/studies/learned_pages.hpp>
#include <cmath>

namespace bochner {
namespace time_factor_test {

/// Two heads: decay 1/8 and 1/2, frequencies (0.7, -1.5) and (2, 0.25), amplitudes 0.2 and 0.05.
AttentionSample sample_of_two_heads() {
  AttentionSample sample;
  sample.q = zeros({1, 3, 2, 1});
  sample.rate = Tensor{real(0.125), real(0.5)};
  sample.rotation = Tensor(
      xt::cast<real>(xt::xarray<double>{{{0.7, 0.2}, {-1.5, 0.2}}, {{2, 0.05}, {0.25, 0.05}}}));
  return sample;
}

double factor(std::size_t head, double lag) {
  return head == 0
             ? std::exp(-lag / 8) * (1 + 0.2 * (std::cos(0.7 * lag) + std::cos(1.5 * lag))) / 1.4
             : std::exp(-lag / 2) * (1 + 0.05 * (std::cos(2 * lag) + std::cos(lag / 4))) / 1.1;
}

TEST(TimeFactor, IsThatOfTheKernel) {
  const AttentionSample sample = sample_of_two_heads();
  for (std::size_t h = 0; h < 2; ++h) {
    const Curve curve = time_factor(sample, h, 20);
    for (std::size_t i = 0; i < curve.x.size(); ++i)
      EXPECT_NEAR(curve.y[i], factor(h, curve.x[i]), 1e-6);
  }
}

/// Of lags that see neither the ends of the curve nor the steps between its places.
TEST(TimeFactor, IsTheFourierTransformOfTheSpectrum) {
  const AttentionSample sample = sample_of_two_heads();
  for (std::size_t h = 0; h < 2; ++h) {
    const Curve curve = time_spectrum(sample, h, 1e5);
    for (const double lag : {0.5, 1.0, 2.0, 4.0, 8.0}) {
      double sum = 0;
      for (std::size_t i = 1; i < curve.x.size(); ++i)
        sum += (curve.y[i] * std::cos(curve.x[i] * lag) +
                curve.y[i - 1] * std::cos(curve.x[i - 1] * lag)) *
               (curve.x[i] - curve.x[i - 1]);
      EXPECT_NEAR(sum, factor(h, lag), 0.06) << h << ", " << lag;
    }
  }
}

TEST(TimeFactor, OfDecayAloneAndGates) {
  AttentionSample sample;
  sample.q = zeros({1, 2, 1, 1});
  sample.rate = Tensor{real(0.25)};
  EXPECT_NEAR(time_factor(sample, 0, 4).y.back(), std::exp(-1), 1e-6);
  sample.rate = zeros({1, 2, 1});
  sample.rate(0, 1, 0) = 1;
  EXPECT_NEAR(time_factor(sample, 0, 4).y.back(), std::exp(-2), 1e-6) << "the mean is 1/2";
  EXPECT_EQ(time_drift(sample, sample), 0);
}

TEST(TimeFactor, DriftIsThatOfTheFrequencies) {
  const AttentionSample start = sample_of_two_heads();
  AttentionSample now = start;
  for (std::size_t h = 0; h < 2; ++h)
    for (std::size_t r = 0; r < 2; ++r) now.rotation(h, r, 0) *= real(1.25);
  now.rotation(0, 1, 1) = real(0.1);
  EXPECT_NEAR(time_drift(now, start), 0.25, 1e-6);
}

}  // namespace time_factor_test
}  // namespace bochner
