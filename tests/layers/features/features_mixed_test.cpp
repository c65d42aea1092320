/// Hybrids of arbitrary estimators.

#include <bochner/layers/features/coefficients.hpp>

#include "layers/features/features_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace features_mixed_test {

using namespace features_check;

FeatureSpec mixed_of(const std::string& lambdas, std::size_t heads, std::size_t d, std::size_t m,
                     std::vector<std::string> estimators) {
  FeatureSpec spec = spec_of("hybrid", heads, d, m);
  spec.lambdas = lambdas, spec.estimators = std::move(estimators);
  spec.lambda = 3, spec.tau = 0.8, spec.gates = 3;
  return spec;
}

/// Moves gates, mixing, u and v, equally for all heads.
void disturb(Module& module, std::size_t heads) {
  for (const NamedParameter& named : parameters_of(module)) {
    if (named.name.find("density") != std::string::npos) continue;
    Tensor& value = named.parameter->value();
    const std::size_t own = value.size() / heads;
    const RandomFunction random{3, Purpose::test, stream_of(named.name.c_str())};
    for (std::size_t i = 0; i < value.size(); ++i)
      value.data()[i] += real(0.7 * random.normal(i % own));
  }
}

/// Returns factors (B, T, H, K, S) of 2 x 5 tokens.
Tensor factors_of(HybridCoefficients& coefficients, std::uint64_t stream, bool query) {
  Tape tape({.recording = false});
  Tensor factors = coefficients.factors(tape, random_tensor({2, 5, 2, 4}, stream), query).value();
  if (coefficients.logarithmic()) factors = xt::exp(factors);
  return factors;
}

TEST(HybridCoefficients, SumToOneForEveryPair) {
  for (const std::string& lambdas : lambda_names()) {
    for (const std::size_t K : {1, 2, 3, 5}) {
      const auto coefficients = make_coefficients(mixed_of(lambdas, 2, 4, 3, {}), K);
      disturb(*coefficients, 2);
      const Tensor a = factors_of(*coefficients, 1, true), b = factors_of(*coefficients, 2, false);
      ASSERT_EQ(a.shape(), b.shape());
      ASSERT_EQ(a.shape()[3], K);
      const std::size_t all = K * a.shape()[4];
      for (std::size_t query = 0; query < 20; ++query) {
        for (std::size_t key = query % 2; key < 20; key += 2) {
          double sum = 0;
          for (std::size_t i = 0; i < all; ++i)
            sum += double(a.data()[query * all + i]) * double(b.data()[key * all + i]);
          ASSERT_NEAR(sum, 1, is_double ? 1e-13 : 1e-5) << lambdas << ", K " << K;
        }
      }
    }
  }
}

/// E lambda_k of a pair is the average of the factors over heads.
TEST(HybridCoefficients, HaveTheirMoments) {
  const std::size_t heads = 20000, d = 3, K = 3;
  for (const std::string& lambdas : lambda_names()) {
    const auto coefficients = make_coefficients(mixed_of(lambdas, heads, d, 3, {}), K);
    disturb(*coefficients, heads);
    const ScaledPair pair(vector_of(d, 1.2, 1), vector_of(d, 0.9, 2));
    Tape tape({.recording = false});
    const bool logarithmic = coefficients->logarithmic();
    const Var a = coefficients->factors(tape, for_all_heads(pair.x, heads), true),
              b = coefficients->factors(tape, for_all_heads(pair.y, heads), false);
    const auto expected = coefficients->moments(pair, 7);
    const std::size_t S = a.dim(4);
    std::vector<std::vector<double>> lambda(K, std::vector<double>(heads));
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double x = double(a.data()[i]), y = double(b.data()[i]);
      lambda[i / S % K][i / S / K] += logarithmic ? std::exp(x + y) : x * y;
    }
    for (std::size_t j = 0; j < K; ++j) {
      for (std::size_t k = 0; k < K; ++k) {
        std::vector<double> products(heads);
        for (std::size_t h = 0; h < heads; ++h) products[h] = lambda[j][h] * lambda[k][h];
        const Moments moments(products);
        EXPECT_NEAR(moments.mean, expected->square[j * K + k], 5 * moments.mean_error() + 1e-5)
            << lambdas;
      }
      const Moments moments(lambda[j]);
      EXPECT_NEAR(moments.mean, expected->mean[j], 5 * moments.mean_error() + 1e-5) << lambdas;
    }
  }
}

/// Unbiased, with the variance of independent estimators and draws of lambda.
TEST(MixedHybrid, HasItsKernelAndItsVariance) {
  const std::size_t heads = 20000;
  for (const std::string& lambdas : lambda_names()) {
    for (const std::size_t d : {2, 5}) {
      const FeatureSpec spec =
          mixed_of(lambdas, heads, d, 2, {"positive", "trigonometric", "hyperbolic"});
      const auto map = make_feature_map(spec);
      disturb(*map, heads);
      EXPECT_FALSE(map->positive());
      for (const Pair& pair : pairs(d, 0.6)) {
        const Moments moments(estimates_of(*map, heads, pair.q, pair.k));
        const double softmax = ScaledPair(pair.q, pair.k).softmax();
        EXPECT_NEAR(map->kernel(pair.q, pair.k).value(), softmax, 1e-9 * softmax);
        EXPECT_NEAR(moments.mean, softmax, 5 * moments.mean_error()) << lambdas << ", d " << d;
        EXPECT_NEAR(moments.variance, map->variance(pair.q, pair.k).value(),
                    5 * moments.variance_error() + 1e-5)
            << lambdas << ", d " << d;
      }
    }
  }
}

/// Estimators of different kernels mix their kernels; logarithms stay logarithms.
TEST(MixedHybrid, MixesKernels) {
  const std::size_t heads = 20000, d = 3;
  FeatureSpec spec = mixed_of("learned", heads, d, 2, {"positive", "pff"});
  const auto map = make_feature_map(spec);
  disturb(*map, heads);
  EXPECT_TRUE(map->positive());
  for (const Pair& pair : pairs(d, 0.6)) {
    const Moments moments(estimates_of(*map, heads, pair.q, pair.k));
    const ScaledPair scaled(pair.q, pair.k);
    const double kernel = map->kernel(pair.q, pair.k).value();
    EXPECT_GT(kernel, std::min(scaled.softmax(), scaled.gaussian()));
    EXPECT_LT(kernel, std::max(scaled.softmax(), scaled.gaussian()));
    EXPECT_NEAR(moments.mean, kernel, 5 * moments.mean_error());
    EXPECT_NEAR(moments.variance, map->variance(pair.q, pair.k).value(),
                5 * moments.variance_error());
  }
}

TEST(MixedHybrid, TakesAnyNumberOfAnyMaps) {
  Tape tape;
  const Tensor x = random_tensor({2, 3, 2, 4}, 1);
  const auto shape_of = [&](std::vector<std::string> estimators, const char* lambdas) {
    const auto map = make_feature_map(mixed_of(lambdas, 2, 4, 3, std::move(estimators)));
    return map->queries(tape, x).shape();
  };
  EXPECT_EQ(shape_of({"positive"}, "learned"), (Shape{2, 3, 2, 3 * 3}));
  EXPECT_EQ(shape_of({"positive", "trigonometric"}, "angular"), (Shape{2, 3, 2, 9 * 4}));
  EXPECT_EQ(shape_of({"relu", "hyperbolic", "hybrid_gaussian"}, "gaussian"),
            (Shape{2, 3, 2, (4 + 6 + 4 * 3 * 7) * 7}));
  const auto error_of = [&](std::vector<std::string> estimators, const char* lambdas) {
    return op_check::error_of([&] { shape_of(std::move(estimators), lambdas); });
  };
  EXPECT_EQ(error_of({}, "learned"), "[hybrid] estimators must not be empty");
  EXPECT_EQ(error_of({"hybrid"}, "learned"), "[hybrid] cannot be an estimator of itself");
  EXPECT_EQ(error_of({"relu"}, "dice"),
            "[features] lambdas = \"dice\"; there are: learned, gaussian, angular, clusters");
}

/// Without data: trigonometric features for equal vectors, hyperbolic ones for opposite vectors.
TEST(MixedHybrid, StartsWithTheBetterEstimatorOnEachSide) {
  const std::size_t d = 8;
  for (const char* lambdas : {"angular", "gaussian"}) {
    const auto of = [&](std::vector<std::string> estimators) {
      FeatureSpec spec = mixed_of(lambdas, 1, d, 16, std::move(estimators));
      spec.tau = 1.5, spec.lambda = 64;
      return make_feature_map(spec);
    };
    const auto both = of({"trigonometric", "hyperbolic"}), trigonometric = of({"trigonometric"}),
               hyperbolic = of({"hyperbolic"});
    const std::vector<double> x = vector_of(d, std::sqrt(double(d)), 1);
    EXPECT_LT(both->variance(x, negative(x)).value(),
              0.1 * trigonometric->variance(x, negative(x)).value());
    EXPECT_LT(both->variance(x, x).value(), 0.1 * hyperbolic->variance(x, x).value());
  }
}

/// Queries and keys in two clusters each: equal ones use trigonometric features, opposite ones
/// hyperbolic ones, both unbiased.
TEST(MixedHybrid, CalibratedToClustersTakesTheBetterEstimatorOfEachPair) {
  const std::size_t heads = 1, d = 8, n = 200;
  const std::vector<double> a = vector_of(d, 4, 1);
  Tensor q = uninitialized({n, heads, d}), k = uninitialized({n, heads, d});
  const RandomFunction random{9, Purpose::test, 3};
  for (std::size_t i = 0; i < q.size(); ++i) {
    const std::size_t row = i / d;
    q.data()[i] = real((row % 2 == 0 ? 1 : -1) * a[i % d] + 0.1 * random.normal(2 * i));
    k.data()[i] = real((row % 3 == 0 ? 1 : -1) * a[i % d] + 0.1 * random.normal(2 * i + 1));
  }
  FeatureSpec spec = mixed_of("clusters", heads, d, 8, {"trigonometric", "hyperbolic"});
  spec.gates = 2;
  const auto map = make_feature_map(spec);
  EXPECT_TRUE(map->needs_calibration());
  initialize(*map, 1);
  map->calibrate(q, k);
  spec.kind = "trigonometric";
  const auto trigonometric = make_feature_map(spec);
  spec.kind = "hyperbolic";
  const auto hyperbolic = make_feature_map(spec);
  const std::vector<double> other = negative(a);
  EXPECT_LT(map->variance(a, other).value(), 0.01 * trigonometric->variance(a, other).value());
  EXPECT_LT(map->variance(a, a).value(), 0.01 * hyperbolic->variance(a, a).value());
}

}  // namespace features_mixed_test
}  // namespace bochner::inline BOCHNER_PRECISION
