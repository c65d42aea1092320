#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/base/numeric/openblas.hpp>
#include <bochner/layers/features/box_weights.hpp>
#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <bochner/layers/module.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/hypergeometric_1F1.hpp>

#include "layers/features/features_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace features_pff_test {

using namespace features_check;

TEST(PositiveFixedFeatures, HaveTheirKernelAndTheirExactVariance) {
  for (std::size_t d : {1, 4, 9}) {
    for (std::size_t m : {1, 3}) expect_closed_forms(spec_of("pff", 20000, d, m), 0.6);
  }
}

/// Stratified radii are correlated, but each row is exactly normal: unbiased, and the variance of
/// one draw is exact.
TEST(PositiveFixedFeatures, HaveNoBiasWithRadialDraws) {
  for (std::size_t d : {2, 4, 9}) {
    FeatureSpec spec = spec_of("pff", 20000, d, 1);
    spec.projection = "radial";
    expect_closed_forms(spec, 0.6);
    spec.m = 2 * d, spec.heads = 4000;
    const auto map = make_feature_map(spec);
    for (const Pair& pair : pairs(d, 1)) {
      const Moments moments(estimates_of(*map, spec.heads, pair.q, pair.k));
      EXPECT_NEAR(moments.mean, ScaledPair(pair.q, pair.k).gaussian(), 5 * moments.mean_error());
      EXPECT_LT(moments.variance, map->variance(pair.q, pair.k).value()) << "d " << d;
    }
  }
}

/// The normal quantile as radius, as in released code: E = exp(-|x|^2 - |y|^2) 1F1(1/2; d/2; |z|^2
/// / 2), the kernel for d = 1 only.
TEST(PositiveFixedFeatures, HaveABiasWithTheNormalQuantileAsRadius) {
  const std::size_t heads = 40000;
  for (std::size_t d : {1, 4, 9}) {
    Tensor w = random_tensor({heads, 1, d}, 1);
    const RandomFunction random{3, Purpose::test, 2};
    for (std::size_t h = 0; h < heads; ++h) {
      double square = 0;
      for (std::size_t e = 0; e < d; ++e) square += std::pow(double(w.data()[h * d + e]), 2);
      const double radius = std::numbers::sqrt2 * boost::math::erf_inv(2 * random.uniform(h) - 1);
      for (std::size_t e = 0; e < d; ++e) w.data()[h * d + e] *= real(radius / std::sqrt(square));
    }
    for (const Pair& pair : pairs(d, 0.9)) {
      const ScaledPair scaled(pair.q, pair.k);
      const auto side = [&](const std::vector<double>& x) {
        return exponents(for_all_heads(x, heads), w, 1).value();
      };
      const Tensor a = side(pair.q), b = side(pair.k);
      std::vector<double> estimates(heads);
      for (std::size_t h = 0; h < heads; ++h)
        estimates[h] = std::exp(double(a.data()[h]) + double(b.data()[h]));
      const Moments moments(estimates);
      const double expected = std::exp(-scaled.xx - scaled.yy) *
                              boost::math::hypergeometric_1F1(0.5, double(d) / 2, scaled.sum() / 2);
      EXPECT_NEAR(moments.mean, expected, 5 * moments.mean_error()) << "d " << d;
      if (d == 1) {
        EXPECT_NEAR(expected, scaled.gaussian(), 1e-12);
      }
      if (d > 1 && scaled.sum() > 0.5) {
        EXPECT_GT(scaled.gaussian() - moments.mean, 5 * moments.mean_error());
      }
    }
  }
}

TEST(ChiQuantile, InvertsTheDistribution) {
  for (double t : {0.01, 0.5, 0.99}) {
    EXPECT_NEAR(chi_quantile(t, 2), std::sqrt(-2 * std::log1p(-t)), 1e-12);
    EXPECT_NEAR(std::erf(chi_quantile(t, 1) / std::numbers::sqrt2), t, 1e-12);
  }
}

/// Per head, phi(x_i) . phi(x_j) is positive semidefinite, and all features are positive.
TEST(WeightedFeatures, StartAsPffAndStayPositiveDefinite) {
  const std::size_t n = 12, d = 3, m = 40;
  FeatureSpec spec = spec_of("wpff", 1, d, m);
  const auto map = make_feature_map(spec);
  initialize(*map, 1);
  const Tensor x = random_tensor({1, n, 1, d}, 1);
  Tape tape({.recording = false});
  const Tensor start = map->features(tape, x).values().value();
  spec.kind = "pff";
  op_check::expect_near(start, make_feature_map(spec)->features(tape, x).values().value());
  randomize(*map);
  // Features as attention sees them: weights that differ between queries and keys would show.
  const Tensor q = map->queries(tape, x).values().value(), k = map->keys(tape, x).values().value();
  EXPECT_NE(q, start);
  std::vector<double> gram(n * n), mirrored(n * n);
  for (std::size_t i = 0; i < n * n; ++i)
    for (std::size_t f = 0; f < m; ++f)
      gram[i] += std::exp(double(q.data()[i / n * m + f]) + double(k.data()[i % n * m + f]));
  for (std::size_t i = 0; i < n * n; ++i) mirrored[i] = gram[i % n * n + i / n];
  const double largest = *std::ranges::max_element(gram);
  for (std::size_t i = 0; i < n * n; ++i) EXPECT_NEAR(gram[i], mirrored[i], 1e-5 * largest);
  EXPECT_GE(symmetric_eigen(gram, n).values.front(), -1e-5 * largest);
}

std::vector<double> frequencies(std::size_t m, std::size_t d, std::uint64_t stream) {
  std::vector<double> w(m * d);
  for (std::size_t i = 0; i < m * d; ++i) w[i] = RandomFunction{7, Purpose::test, stream}.normal(i);
  return w;
}

/// Returns xi^T H xi - 2 v^T xi.
double discrepancy(const BoxDiscrepancy& box, const std::vector<double>& xi) {
  const std::size_t m = xi.size();
  double total = 0;
  for (std::size_t i = 0; i < m; ++i) {
    double row = -2 * box.v[i];
    for (std::size_t j = 0; j < m; ++j) row += box.H[i * m + j] * xi[j];
    total += row * xi[i];
  }
  return total;
}

double mean_over_box(double w, double b) { return box_discrepancy({w}, 1, 1, b).v[0]; }

TEST(BoxWeights, KnowTheirClosedFormInLargeBoxes) {
  for (const double w : {0.0, 0.7, -3.0, 500.0})
    for (const double b : {9.5, 50.0, 1e8, 1e300}) {
      const double whole = std::sqrt(std::numbers::pi / 2) * std::exp(-w * w / 2);
      EXPECT_NEAR(mean_over_box(w, b) * b, whole, 1e-14) << w << " in " << b;
    }
}

TEST(BoxWeights, KnowTheIntegralOfShortWaves) {
  for (const double w : {101.0, -150.0, 999.0})
    for (const double b : {1.1, 2.0, 5.0, 8.9}) {
      const std::size_t n = 100000;  // steps of two Gauss-Legendre points
      long double sum = 0;
      for (std::size_t i = 0; i < n; ++i)
        for (const double side : {-1, 1}) {
          const double z = b * (double(i) + (1 + side / std::sqrt(3)) / 2) / double(n);
          sum += std::exp(-z * z / 2) * std::cos(z * w) / double(2 * n);
        }
      EXPECT_NEAR(mean_over_box(w, b), double(sum), 1e-13) << w << " in " << b;
    }
  const double w = 2e9, b = 2;
  EXPECT_NEAR(mean_over_box(w, b) * w * b, std::exp(-2) * std::sin(w * b), 1e-8);
  EXPECT_NEAR(mean_over_box(1e9, 1e-9), std::sin(1), 1e-7);
}

TEST(BoxWeights, OfBoxesAsWideAsNumbersAreStillWeights) {
  const std::vector<double> near{0, 1, 1e9}, line = box_weights(near, 3, 1, 1e300);
  EXPECT_NEAR(line[1] / line[0], std::exp(-0.5), 1e-9);
  EXPECT_EQ(line[2], 0);
  EXPECT_EQ(box_weights(frequencies(4, 3, 1), 4, 3, 1e300), std::vector<double>(4, 0.25));
}

/// xi >= 0; slope 0 where xi > 0, nonnegative where xi = 0.
TEST(BoxWeights, SatisfyTheConditionsOfTheirOptimum) {
  for (std::size_t d : {1, 3, 16}) {
    for (std::size_t m : {1, 8, 40}) {
      const std::vector<double> w = frequencies(m, d, 10 * d + m);
      const double b = 2 / std::sqrt(double(d));
      const BoxDiscrepancy box = box_discrepancy(w, m, d, b);
      const std::vector<double> xi = box_weights(w, m, d, b);
      const double largest = *std::max_element(box.v.begin(), box.v.end());
      for (std::size_t i = 0; i < m; ++i) {
        double slope = -box.v[i];
        for (std::size_t j = 0; j < m; ++j) slope += box.H[i * m + j] * xi[j];
        EXPECT_GE(xi[i], 0);
        EXPECT_GE(slope, -1e-6 * largest) << i;
        if (xi[i] > 0) {
          EXPECT_LE(slope, 1e-6 * largest) << i;
        }
      }
      const double uniform = discrepancy(box, std::vector<double>(m, 1 / double(m)));
      EXPECT_LE(discrepancy(box, xi), uniform + 1e-12) << "d " << d << ", m " << m;
    }
  }
}

/// Compares with all active sets.
TEST(BoxWeights, AreTheLeastOfAllActiveSets) {
  const std::vector<double> H = {1, 0.9, 0.2, 0.9, 1, 0.5, 0.2, 0.5, 1}, v = {1, 0.4, 0.7};
  const std::vector<double> xi = nonnegative_quadratic(H, v);
  EXPECT_EQ(xi[1], 0);
  EXPECT_NEAR(xi[0], (1 - 0.2 * 0.7) / 0.96, 1e-12);
  EXPECT_NEAR(xi[2], (0.7 - 0.2 * 1) / 0.96, 1e-12);
}

/// Compares the discrepancy with the squared error of waves or cosines on a fine grid in one
/// dimension.
void expect_squared_error_over_the_box(bool even) {
  const std::size_t m = 4, points = 20000;
  const double b = 1.7;
  const std::vector<double> w = frequencies(m, 1, 5), xi = {0.1, 0.4, 0.2, 0.5};
  double error = 0, constant = 0;
  for (std::size_t i = 0; i < points; ++i) {
    const double z = b * (2 * (double(i) + 0.5) / double(points) - 1),
                 target = std::exp(-z * z / 2);
    double real_part = target, imaginary = 0;
    for (std::size_t j = 0; j < m; ++j) {
      real_part -= xi[j] * std::cos(z * w[j]);
      if (!even) imaginary -= xi[j] * std::sin(z * w[j]);
    }
    error += (real_part * real_part + imaginary * imaginary) / double(points);
    constant += target * target / double(points);
  }
  EXPECT_NEAR(discrepancy(box_discrepancy(w, m, 1, b, even), xi) + constant, error, 1e-7);
}

TEST(BoxWeights, MeasureTheSquaredErrorOverTheBox) { expect_squared_error_over_the_box(false); }

TEST(BoxWeights, MeasureTheSquaredErrorOfCosinesOverTheBox) {
  expect_squared_error_over_the_box(true);
}

TEST(FixedWeightFeatures, WeighTheFeaturesOfPff) {
  FeatureSpec spec = spec_of("wpff_fixed", 1, 3, 30);
  const auto weighted = make_feature_map(spec);
  initialize(*weighted, 1);
  spec.kind = "pff";
  const auto plain = make_feature_map(spec);
  const Tensor x = random_tensor({1, 1, 1, 3}, 1);
  Tape tape({.recording = false});
  const Tensor a = weighted->features(tape, x).values().value();
  const Tensor b = plain->features(tape, x).values().value();
  double total = 0, difference = 0;
  for (std::size_t f = 0; f < 30; ++f) {
    const double log_weight = double(a.data()[f]) - double(b.data()[f]);
    total += std::exp(2 * log_weight) / 30, difference += std::abs(log_weight);
  }
  EXPECT_NEAR(total, 1, is_double ? 1e-10 : 1e-4);
  EXPECT_GT(difference, 1);
}

/// initialize() draws the means of a mixture: the weights must belong to the drawn ones.
TEST(FixedWeightFeatures, HaveTheWeightsOfTheFrequenciesAtTheStart) {
  FeatureSpec spec = spec_of("wpff_fixed", 2, 3, 30);
  spec.density.kind = "mixture";
  for (const bool temperature : {false, true}) {
    spec.temperature = temperature;
    const auto map = make_feature_map(spec);
    initialize(*map, 7);
    const Tensor x = random_tensor({1, 4, 2, 3}, 1);
    const auto values = [&] {
      Tape tape({.recording = false});
      return map->features(tape, x).values().value();
    };
    const Tensor first = values();
    map->initialized();
    op_check::expect_equal_bits(values(), first);
    for (NamedParameter& named : parameters_of(*map)) named.parameter->value() *= real(1.5);
    map->initialized();
    EXPECT_GT(xt::amax(xt::abs(values() - first))(), 1e-3);
  }
  spec.density.redraw = 5;
  EXPECT_EQ(op_check::error_of([&] { make_feature_map(spec); }),
            "[wpff_fixed] fixed weights belong to one set of frequencies: redraw must be 0, not 5");
}

/// Refits in training passes that are due, if frequencies have moved.
TEST(FixedWeightFeatures, FollowFrequenciesThatHaveMoved) {
  FeatureSpec spec = spec_of("wpff_fixed", 2, 3, 30);
  spec.refit = 10;
  const auto map = make_feature_map(spec);
  initialize(*map, 7);
  const Tensor x = random_tensor({1, 4, 2, 3}, 1);
  const auto values = [&](std::uint64_t step, bool training) {
    Tape tape;
    tape.training = training, tape.step = step;
    return map->features(tape, x).values().value();
  };
  const Tensor at_start = values(10, true);
  op_check::expect_equal_bits(values(0, true), at_start);
  for (NamedParameter& named : parameters_of(*map))
    if (named.name.ends_with("log_scale")) named.parameter->value() += real(0.4);
  const Tensor left_behind = values(9, true);
  op_check::expect_equal_bits(values(10, false), left_behind);
  op_check::expect_equal_bits(values(0, true), left_behind);
  const Tensor fitted = values(20, true);
  EXPECT_GT(xt::amax(xt::abs(fitted - left_behind))(), 1e-3);
  op_check::expect_equal_bits(values(21, false), fitted);
  map->initialized();
  op_check::expect_equal_bits(values(0, false), fitted);
}

}  // namespace features_pff_test
}  // namespace bochner::inline BOCHNER_PRECISION
