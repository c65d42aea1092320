#include <bochner/layers/spectral/initial.hpp>

#include "layers/spectral/density_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace density_initial_test {

using namespace density_check;

const RandomFunction draw{3, Purpose::test, 11};

/// Returns columns of N(0, deviation^2); deviation 0 gives a constant column.
Tensor columns(const std::vector<double>& deviations, std::size_t n) {
  Tensor x = random_tensor({n, deviations.size()}, 31);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < deviations.size(); ++j)
      x(i, j) = real(5 + deviations[j] * double(x(i, j)));
  }
  return x;
}

/// The median of |a - b| for a, b ~ N(0, s^2) is sqrt(2) s 0.6745.
TEST(MedianLogScale, IsTheInverseOfTheMedianDifference) {
  const std::vector<double> deviations{1, 0.1, 10};
  const std::vector<double> log_scale = median_log_scale(columns(deviations, 5000), draw);
  for (std::size_t j = 0; j < 3; ++j) {
    const double expected = -std::log(std::sqrt(2 * 3) * 0.6745 * deviations[j]);
    EXPECT_NEAR(log_scale[j], expected, 0.1) << j;
  }
}

TEST(MedianLogScale, SurvivesConstantAndRareColumns) {
  const std::vector<double> some = median_log_scale(columns({1, 0, 1}, 2000), draw);
  EXPECT_NEAR(some[1], (some[0] + some[2]) / 2, 1e-12);
  EXPECT_EQ(median_log_scale(columns({0, 0}, 10), draw), (std::vector<double>{0, 0}));
  Tensor rare = columns({0}, 1000);  // nearly all differences are zero
  for (std::size_t i = 0; i < 20; ++i) rare(i * 50, 0) += 2;
  EXPECT_NEAR(median_log_scale(rare, draw)[0], -std::log(2.0), 1e-6);
  Tensor broken = columns({1}, 1000);
  broken(3, 0) = std::numeric_limits<real>::infinity();
  EXPECT_TRUE(std::isfinite(median_log_scale(broken, draw)[0]));
}

TEST(PeriodogramFrequencies, AreThoseOfTheSignal) {
  const std::size_t T = 400, m = 500;
  const double spacing = 0.5, slow = 2 * std::numbers::pi * 10 / (double(T) * spacing);
  Tensor signals = zeros({T, 3});
  for (std::size_t t = 0; t < T; ++t) {
    const double time = double(t) * spacing;
    signals(t, 0) = real(3 + std::sin(slow * time) + 2 * std::cos(4 * slow * time));
    signals(t, 1) = real(0.1);
    signals(t, 2) = real(t % 2);  // the highest frequency
  }
  const Tensor w = periodogram_frequencies(signals, spacing, m, draw);
  const double bin = 2 * std::numbers::pi / (double(T) * spacing);
  std::size_t fast = 0, negative = 0;
  for (std::size_t i = 0; i < m; ++i) {
    const double size = std::abs(double(w(i, 0)));
    const bool is_fast = size > 2 * slow;
    EXPECT_NEAR(size, is_fast ? 4 * slow : slow, bin * 0.51);
    fast += is_fast, negative += w(i, 0) < 0;
    EXPECT_EQ(w(i, 1), 0);
    EXPECT_NEAR(std::abs(double(w(i, 2))), std::numbers::pi / spacing, bin * 0.51);
    EXPECT_LE(std::abs(double(w(i, 2))), std::numbers::pi / spacing + 1e-6);
  }
  EXPECT_NEAR(double(fast) / double(m), 0.8, 5 * std::sqrt(0.16 / double(m)));
  EXPECT_NEAR(double(negative) / double(m), 0.5, 5 * std::sqrt(0.25 / double(m)));
}

/// The spectrum of an impulse is flat: each wave has both signs, except the highest of an even
/// number of samples.
TEST(PeriodogramFrequencies, CountTheHighestOnce) {
  constexpr std::size_t m = 4000;
  for (const std::size_t T : {4, 5}) {
    Tensor signals = zeros({T, 1});
    signals(0, 0) = 1;
    const Tensor w = periodogram_frequencies(signals, 1, m, draw);
    const double bin = 2 * std::numbers::pi / double(T), span = std::numbers::pi - bin / 2;
    double mean = 0;
    for (const real x : w) {
      const double place = (std::abs(double(x)) - bin / 2) / span;
      EXPECT_GE(place, -1e-6);
      EXPECT_LE(place, 1 + 1e-6);
      mean += place / double(m);
    }
    EXPECT_NEAR(mean, 0.5, 5 / std::sqrt(12.0 * double(m))) << T;
  }
}

/// The length scales of the kernel are those of the data, for any density.
TEST(StartAt, SetsTheScaleOfEveryCoordinate) {
  const std::vector<double> log_scale{-1, 0.5, 2};
  for (const char* kind : {"gaussian", "gaussian_full", "mixture", "student_t", "flow", "free"}) {
    DensitySpec spec{.kind = kind, .draws = "sobol_owen", .heads = 2, .m = 4096, .dim = 3};
    spec.degrees = 1e6;
    const auto density = make_density(spec);
    density->init_log_scale(log_scale);
    const std::vector<double> w = draws_of(*density, 1);
    for (std::size_t j = 0; j < 3; ++j) {
      double square = 0;
      for (std::size_t i = 0; i < spec.m; ++i) square += std::pow(w[3 * i + j], 2) / 4096;
      EXPECT_NEAR(std::log(square) / 2, log_scale[j], 0.05) << kind << j;
    }
  }
  EXPECT_EQ(op_check::error_of([&] { make_density({.dim = 4})->init_log_scale(log_scale); }),
            "[density] expected 4 log scales, got 3");
}

/// Custom density without set_log_scale().
class Unscaled : public SpectralDensity {
 public:
  explicit Unscaled(const DensitySpec& spec) : SpectralDensity(spec) {}
  Var sample(Tape&, const Var& noise) override { return noise; }
};

TEST(StartAt, SaysWhatADensityOfOnesOwnLacks) {
  Unscaled together({.kind = "mine", .heads = 2, .dim = 3});
  together.initialized();
  const char* error =
      "[density] \"mine\" must override set_log_scale() for a spread or a start from data";
  EXPECT_EQ(op_check::error_of([&] { together.init_log_scale({0, 0, 0}); }), error);
  Unscaled apart({.kind = "mine", .heads = 2, .dim = 3, .spread = 1});
  EXPECT_EQ(op_check::error_of([&] { apart.initialized(); }), error);
}

/// A constant column does not change the others' scales.
TEST(MedianLogScale, CountsTheColumnsThatVary) {
  const double with = median_log_scale(columns({1, 0, 1}, 2000), draw)[0];
  const double expected = -std::log(std::sqrt(2 * 2) * 0.6745);
  EXPECT_NEAR(with, expected, 0.1);
}

}  // namespace density_initial_test
}  // namespace bochner::inline BOCHNER_PRECISION
