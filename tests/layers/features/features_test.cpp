#include <bochner/autodiff/ops.hpp>
#include <bochner/autodiff/weight_cache.hpp>
#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/frequencies.hpp>

#include "layers/features/features_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace features_test {

using namespace features_check;

TEST(GaussianDensity, IsDifferentiable) {
  FeatureSpec spec = spec_of("positive", 2, 3, 5);
  spec.density.draws = "orthogonal";
  const auto density = make_density(spec.density);
  randomize(*density);
  EXPECT_EQ(names_of(*density), (std::vector<std::string>{"mean", "log_scale"}));
  EXPECT_EQ(buffers_of(*density).size(), 1u);
  check_layer(*density, random_tensor({2, 5, 3}, 1),
              [&](Tape& tape, const Var& noise) { return density->sample(tape, noise); });
  check_layer(*density, random_tensor({1}, 1),
              [&](Tape& tape, const Var&) { return density->draws(tape); });
}

/// Single tokens request the draws again and again.
TEST(SpectralDensity, IsBentOnceForPassesBetweenWhichNothingIsLearned) {
  const auto density = make_density(spec_of("positive", 2, 3, 5).density);
  WeightCache values;
  const auto draws = [&](bool recording) {
    Tape tape({.recording = recording, .weight_cache = &values});
    return density->draws(tape).shared_value();
  };
  EXPECT_EQ(draws(false), draws(false));
  EXPECT_NE(draws(true), draws(false));
}

TEST(FeatureMap, GivesItsDensityTheSizesThatItHas) {
  FeatureSpec spec;
  spec.heads = 2, spec.dim = 3, spec.m = 4;
  const auto map = make_feature_map(spec);
  Tape tape({.recording = false});
  EXPECT_EQ(map->features(tape, random_tensor({1, 5, 2, 3}, 1)).values().shape(),
            (Shape{1, 5, 2, 4}));
}

TEST(ClassicalFeatures, HaveTheirKernelAndTheirExactVariance) {
  for (const char* kind : {"trigonometric", "positive", "hyperbolic"}) {
    for (std::size_t d : {1, 4, 16}) {
      for (std::size_t m : {1, 3}) expect_closed_forms(spec_of(kind, 10000, d, m), 0.5);
    }
  }
}

TEST(ClassicalFeatures, HaveNoBiasWithOrthogonalDraws) {
  for (const char* kind : {"trigonometric", "positive", "hyperbolic"}) {
    for (std::size_t d : {2, 4, 16}) {
      FeatureSpec spec = spec_of(kind, 3000, d, 2 * d);
      spec.density.draws = "orthogonal";
      const auto map = make_feature_map(spec);
      for (const Pair& pair : pairs(d, 1)) {
        const Moments moments(estimates_of(*map, spec.heads, pair.q, pair.k));
        EXPECT_NEAR(moments.mean, map->kernel(pair.q, pair.k).value(), 5 * moments.mean_error())
            << kind << ", d " << d;
      }
    }
  }
}

TEST(ClassicalFeatures, AreExactWhereTheirVarianceIsZero) {
  const std::vector<double> x = vector_of(4, 2, 1), opposite = negative(x);
  const double square = ScaledPair(x, x).xx;
  for (std::size_t m : {1, 6}) {
    const auto trigonometric = make_feature_map(spec_of("trigonometric", 50, 4, m));
    expect_exact(*trigonometric, 50, x, x, std::exp(square));
    EXPECT_NEAR(trigonometric->variance(x, x).value(), 0, 1e-12);
    for (const char* kind : {"hyperbolic", "positive"}) {
      const auto map = make_feature_map(spec_of(kind, 50, 4, m));
      expect_exact(*map, 50, x, opposite, std::exp(-square));
      EXPECT_NEAR(map->variance(x, opposite).value(), 0, 1e-12);
    }
  }
}

/// Cov(hyp, trig) = Cov(pos, trig) = -SM^2 (1 - cos(|x|^2 - |y|^2)) for the same w.
TEST(ClassicalFeatures, HaveTheirCovarianceForTheSameFrequencies) {
  const std::size_t heads = 20000;
  for (std::size_t d : {1, 4, 16}) {
    const auto trigonometric = make_feature_map(spec_of("trigonometric", heads, d, 1));
    for (const char* kind : {"hyperbolic", "positive"}) {
      const auto map = make_feature_map(spec_of(kind, heads, d, 1));
      for (const Pair& pair : pairs(d, 0.8)) {
        const ScaledPair scaled(pair.q, pair.k);
        std::vector<double> products = estimates_of(*map, heads, pair.q, pair.k);
        const auto other = estimates_of(*trigonometric, heads, pair.q, pair.k);
        for (std::size_t h = 0; h < heads; ++h)
          products[h] = (products[h] - scaled.softmax()) * (other[h] - scaled.softmax());
        const Moments moments(products);
        EXPECT_NEAR(moments.mean, covariance_with_trigonometric(scaled), 5 * moments.mean_error())
            << kind << ", d " << d;
      }
    }
  }
}

/// E = exp(mu . (x + y) + sum s^2 (x + y)^2 / 2 - |x|^2 / 2 - |y|^2 / 2) for w ~ N(mu, s^2).
TEST(PositiveFeatures, HaveTheClosedFormOfTheLearnedDensity) {
  for (std::size_t d : {1, 3, 8}) {
    FeatureSpec spec = spec_of("positive", 4000, d, d + 1);
    spec.density.draws = "orthogonal";
    const auto map = make_feature_map(spec);
    const Tensor mean = random_tensor({d}, 50), log_scale = random_tensor({d}, 51);
    for (const NamedParameter& named : parameters_of(*map)) {
      const Tensor& from = named.name == "density.mean" ? mean : log_scale;
      for (std::size_t i = 0; i < spec.heads * d; ++i)
        named.parameter->value().data()[i] = from.data()[i % d] / 3;
    }
    for (const Pair& pair : pairs(d, 0.7)) {
      const ScaledPair scaled(pair.q, pair.k);
      double exponent = -scaled.xx / 2 - scaled.yy / 2;
      for (std::size_t e = 0; e < d; ++e) {
        const double z = scaled.x[e] + scaled.y[e];
        exponent += double(mean.data()[e]) / 3 * z +
                    std::exp(2 * double(log_scale.data()[e]) / 3) * z * z / 2;
      }
      const Moments moments(estimates_of(*map, spec.heads, pair.q, pair.k));
      EXPECT_NEAR(moments.mean, std::exp(exponent), 5 * moments.mean_error()) << "d " << d;
    }
  }
}

TEST(Exponents, AreTheLogarithmsOfTheirFormula) {
  const Tensor x = random_tensor({2, 3, 2, 4}, 1), w = random_tensor({2, 5, 4}, 2),
               offset = random_tensor({2, 5}, 3);
  const Tensor result = exponents(x, w, 0.7, offset).value();
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t token = i / 10, h = i / 5 % 2, f = i % 5;
    double expected = double(offset.data()[h * 5 + f]) - std::log(5.0) / 2;
    for (std::size_t e = 0; e < 4; ++e) {
      const double y = double(x.data()[(token * 2 + h) * 4 + e]) / std::sqrt(2);
      expected += double(w.data()[(h * 5 + f) * 4 + e]) * y - 0.7 * y * y;
    }
    EXPECT_NEAR(result.data()[i], expected, 20 * op_check::tolerance);
  }
}

TEST(Tempered, MultipliesWhatTheMapSees) {
  FeatureSpec spec = spec_of("positive", 3, 4, 5);
  const auto plain = make_feature_map(spec);
  spec.temperature = true;
  const auto warm = make_feature_map(spec);
  const std::vector<double> q = vector_of(4, 1, 1), k = vector_of(4, 1.5, 2);
  EXPECT_EQ(estimates_of(*warm, 3, q, k), estimates_of(*plain, 3, q, k));
  EXPECT_EQ(names_of(*warm).back(), "log_temperature");
  Tensor& log_temperature = parameters_of(*warm).back().parameter->value();
  for (std::size_t h = 0; h < 3; ++h) log_temperature.data()[h] = real(std::log(2.0 + double(h)));
  const auto estimates = estimates_of(*warm, 3, q, k);
  for (std::size_t h = 0; h < 3; ++h) {
    std::vector<double> warm_q = q, warm_k = k;
    for (std::size_t e = 0; e < 4; ++e) warm_q[e] *= 2 + double(h), warm_k[e] *= 2 + double(h);
    EXPECT_NEAR(estimates[h] / estimates_of(*plain, 3, warm_q, warm_k)[h], 1,
                is_double ? 1e-12 : 1e-4);
    EXPECT_NEAR(warm->kernel(q, k, h).value(), plain->kernel(warm_q, warm_k).value(),
                is_double ? 1e-12 : 1e-5);
    EXPECT_NEAR(warm->variance(q, k, h).value() / plain->variance(warm_q, warm_k).value(), 1,
                is_double ? 1e-12 : 1e-5);
  }
}

/// Attends to equal tokens with |y|^2 / 2 = exponent.
TEST(TrigonometricFeatures, StayInTheRangeOfNumbers) {
  constexpr std::size_t T = 500, d = 16;
  for (const char* kind : {"trigonometric", "hybrid_angular", "hybrid_gaussian", "hybrid"}) {
    const auto map = make_feature_map(spec_of(kind, 1, d, 8));
    for (const double exponent : {30.0, 60.0, 100.0, 400.0, 1e6}) {
      Tape tape;
      const Var x = tape.input(filled({1, T, 1, d}, real(std::sqrt(2 * exponent / std::sqrt(d)))));
      const Var v = tape.constant(random_tensor({1, T, 1, d}, 1));
      const Var y =
          linear_attention(map->queries(tape, x), map->keys(tape, x), v, {}, {.floor = real(1e-3)});
      for (const real number : y.value()) ASSERT_TRUE(std::isfinite(number)) << kind << exponent;
    }
  }
}

/// Only lengths are clamped whose products would overflow.
TEST(TrigonometricFeatures, HaveTheirLengthUpToTheLargestExponent) {
  constexpr std::size_t d = 4;
  const auto map = make_feature_map(spec_of("trigonometric", 1, d, 8));
  const double largest = max_trigonometric_exponent();
  for (const double exponent : {0.5, 10.0, largest - 0.01, largest + 20}) {
    const std::vector<double> x(d, std::sqrt(2 * exponent / std::sqrt(d)));
    EXPECT_NEAR(std::log(estimates_of(*map, 1, x, x)[0]) / 2, std::min(exponent, largest), 1e-4);
  }
}

TEST(FeatureMaps, AreFoundByName) {
  try {
    make_feature_map(spec_of("psoitive", 1, 2, 3));
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("[features] no features is called \"psoitive\"; there are: "
                                 "positive, hyperbolic, trigonometric"));
  }
}

}  // namespace features_test
}  // namespace bochner::inline BOCHNER_PRECISION
