#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <bochner/layers/spectral/base_draws.hpp>

#include "layers/features/features_check.hpp"

/// Kernels fourier and nonstationary.
namespace bochner::inline BOCHNER_PRECISION {
namespace features_stationary_test {

using namespace features_check;

constexpr double rounding = is_double ? 1e-12 : 1e-5;

std::vector<double> moved(std::vector<double> x, const std::vector<double>& by) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += by[i];
  return x;
}

TEST(FourierFeatures, HaveTheirKernelAndTheirExactVariance) {
  for (std::size_t d : {1, 4, 16}) {
    for (std::size_t m : {1, 3}) expect_closed_forms(spec_of("fourier", 10000, d, m), 1);
  }
}

TEST(FourierFeatures, HaveNoBiasWithAnyDraws) {
  for (const std::string& draws : base_draw_names()) {
    FeatureSpec spec = spec_of("fourier", 3000, 4, 8);
    spec.density.draws = draws;
    const auto map = make_feature_map(spec);
    for (const Pair& pair : pairs(4, 1)) {
      const Moments moments(estimates_of(*map, spec.heads, pair.q, pair.k));
      EXPECT_NEAR(moments.mean, map->kernel(pair.q, pair.k).value(), 5 * moments.mean_error())
          << draws;
    }
  }
}

TEST(FourierFeatures, SeeTheDifferenceAloneWhateverTheDensityAndItsDraws) {
  const std::vector<double> step = vector_of(5, 2, 99);
  for (const std::string& kind : densities().names()) {
    for (const std::string& draws : base_draw_names()) {
      FeatureSpec spec = spec_of("fourier", 3, 5, 7);
      spec.density.kind = kind, spec.density.draws = draws;
      const auto map = make_feature_map(spec);
      randomize(*map);
      for (const Pair& pair : pairs(5, 1)) {
        const auto here = estimates_of(*map, 3, pair.q, pair.k);
        const auto there = estimates_of(*map, 3, moved(pair.q, step), moved(pair.k, step));
        const auto self = estimates_of(*map, 3, pair.q, pair.q);
        for (std::size_t h = 0; h < 3; ++h) {
          ASSERT_NEAR(here[h], there[h], is_double ? 1e-12 : 1e-3) << kind << ", " << draws;
          ASSERT_NEAR(self[h], 1, rounding) << kind << ", " << draws;
        }
      }
    }
  }
}

/// E phi(q) . phi(k) = k(y_q - y_k) of the density, for any parameters.
TEST(FourierFeatures, HaveTheKernelOfTheLearnedDensity) {
  const std::size_t m = 8000, d = 3;
  for (const std::string& kind : densities().names()) {
    FeatureSpec spec = spec_of("fourier", 1, d, m);
    spec.density.kind = kind, spec.density.temperature = 0;
    const auto map = make_feature_map(spec);
    randomize(*map, 0.4);
    const PointFunction kernel = map->frequencies()->density()->kernel(0);
    ASSERT_TRUE(kernel) << kind;
    for (const Pair& pair : pairs(d, 1)) {
      std::vector<double> lag = ScaledPair(pair.q, pair.k).x;
      for (std::size_t e = 0; e < d; ++e) lag[e] -= ScaledPair(pair.q, pair.k).y[e];
      const double expected = kernel(lag.data());
      const double deviation = std::sqrt((1 - expected * expected) / double(m));
      EXPECT_NEAR(estimates_of(*map, 1, pair.q, pair.k)[0], expected, 5 * deviation + rounding)
          << kind;
    }
  }
}

TEST(NonstationaryFeatures, StartAsFourierToTheBit) {
  FeatureSpec spec = spec_of("nonstationary", 2, 4, 6);
  spec.density.draws = "orthogonal";
  const auto pairs_of_frequencies = make_feature_map(spec);
  spec.kind = "fourier";
  const auto fourier = make_feature_map(spec);
  const Tensor x = random_tensor({2, 5, 2, 4}, 1);
  Tape tape;
  op_check::expect_equal_bits(pairs_of_frequencies->features(tape, x).values().value(),
                              fourier->features(tape, x).values().value());
}

TEST(NonstationaryFeatures, HaveTheirKernelAndTheirExactVariance) {
  for (double correlation : {1.0, 0.6, 0.0, -1.0}) {
    for (std::size_t d : {1, 4}) {
      FeatureSpec spec = spec_of("nonstationary", 20000, d, 2);
      spec.correlation = correlation;
      expect_closed_forms(spec, 1);
    }
  }
}

TEST(NonstationaryFeatures, SeeMoreThanTheDifferenceOffTheDiagonal) {
  FeatureSpec spec = spec_of("nonstationary", 1, 4, 6);
  const std::vector<double> q = vector_of(4, 1, 1), k = vector_of(4, 1, 2);
  const std::vector<double> step = vector_of(4, 2, 3);
  for (double correlation : {1.0, 0.6}) {
    spec.correlation = correlation;
    const auto map = make_feature_map(spec);
    const double here = map->kernel(q, k).value();
    const double there = map->kernel(moved(q, step), moved(k, step)).value();
    EXPECT_EQ(std::abs(here - there) < 1e-9, correlation == 1);
  }
}

/// The kernel matrix of many points is positive semidefinite for moved parameters.
TEST(NonstationaryFeatures, ArePositiveDefinite) {
  const std::size_t n = 12;
  const auto map = make_feature_map(spec_of("nonstationary", 1, 3, 8));
  randomize(*map);
  Tape tape({.recording = false});
  const Tensor x = random_tensor({1, n, 1, 3}, 1);
  const Tensor q = map->queries(tape, x).values().value(), k = map->keys(tape, x).values().value();
  const std::size_t F = q.shape().back();
  for (std::uint64_t stream = 0; stream < 20; ++stream) {
    const Tensor c = random_tensor({n}, stream);
    double form = 0;
    for (std::size_t i = 0; i < n * n; ++i) {
      for (std::size_t f = 0; f < F; ++f)
        form += double(c.data()[i / n]) * double(c.data()[i % n]) *
                double(q.data()[i / n * F + f]) * double(k.data()[i % n * F + f]);
    }
    EXPECT_GE(form, -1e-6);
  }
}

}  // namespace features_stationary_test
}  // namespace bochner::inline BOCHNER_PRECISION
