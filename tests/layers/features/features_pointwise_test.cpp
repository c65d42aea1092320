#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/closed_forms.hpp>
#include <numbers>
#include <numeric>

#include "layers/features/features_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace features_pointwise_test {

using namespace features_check;

Tensor features_of(FeatureMap& map, const Tensor& x) {
  Tape tape({.recording = false});
  return map.features(tape, x).values().value();
}

TEST(TaylorFeatures, GiveOneAndSAndHalfItsSquare) {
  for (std::size_t d : {1, 4, 9}) {
    const auto map = make_feature_map(spec_of("taylor", 2, d, 1));
    for (const Pair& pair : pairs(d, 2)) {
      const double s = ScaledPair(pair.q, pair.k).xy;
      expect_exact(*map, 2, pair.q, pair.k, 1 + s + s * s / 2);
      EXPECT_NEAR(map->kernel(pair.q, pair.k).value(), 1 + s + s * s / 2, 1e-12);
    }
  }
}

TEST(IdentityFeatures, GiveTheInnerProduct) {
  const auto map = make_feature_map(spec_of("identity", 2, 4, 1));
  EXPECT_FALSE(map->positive());
  for (const Pair& pair : pairs(4, 2)) {
    const double s = std::inner_product(pair.q.begin(), pair.q.end(), pair.k.begin(), 0.0);
    expect_exact(*map, 2, pair.q, pair.k, s);
    EXPECT_NEAR(map->kernel(pair.q, pair.k).value(), s, 1e-12);
  }
}

/// relu(q) . relu(k) cos(pi (i - j) / (2 M)) for tokens i and j.
TEST(CosformerFeatures, WeighByTheCosineOfTheLag) {
  FeatureSpec spec = spec_of("cosformer", 1, 4, 1);
  spec.length = 20;
  const auto map = make_feature_map(spec);
  const std::vector<double> q = vector_of(4, 2, 1), k = vector_of(4, 3, 2);
  double product = 0;
  for (std::size_t e = 0; e < 4; ++e) product += std::max(q[e], 0.0) * std::max(k[e], 0.0);
  ASSERT_GT(product, 0);
  Tape tape;
  for (std::size_t i : {0, 5, 19}) {
    for (std::size_t j : {0, 3, 19}) {
      const Tensor a = map->queries(tape, for_all_heads(q, 1), i).values().value();
      const Tensor b = map->keys(tape, for_all_heads(k, 1), j).values().value();
      double estimate = 0;
      for (std::size_t f = 0; f < 8; ++f) estimate += double(a.data()[f]) * double(b.data()[f]);
      const double lag = double(i) - double(j);
      EXPECT_NEAR(estimate, product * std::cos(std::numbers::pi * lag / 40),
                  is_double ? 1e-13 : 1e-5);
    }
  }
  EXPECT_EQ(op_check::error_of([&] { map->queries(tape, for_all_heads(q, 1), 20); }),
            "[cosformer] position 20 is beyond length = 20; raise "
            "model.mixer.features.length");
}

TEST(HedgehogFeatures, AreTwoDistributionsPerRow) {
  const std::size_t m = 5;
  const auto map = make_feature_map(spec_of("hedgehog", 2, 3, m));
  initialize(*map, 1);
  const Tensor phi = features_of(*map, random_tensor({2, 4, 2, 3}, 1));
  ASSERT_EQ(phi.shape()[3], 2 * m);
  for (std::size_t half = 0; half < phi.size() / m; ++half) {
    double sum = 0;
    for (std::size_t f = 0; f < m; ++f) {
      EXPECT_GT(phi.data()[half * m + f], 0);
      sum += double(phi.data()[half * m + f]);
    }
    EXPECT_NEAR(sum, 1, is_double ? 1e-14 : 1e-6);
  }
  // The second half is the softmax of the negated logits: products with the first are constant.
  for (std::size_t row = 0; row < phi.size() / (2 * m); ++row) {
    const real* x = phi.data() + row * 2 * m;
    for (std::size_t f = 1; f < m; ++f)
      EXPECT_NEAR(x[f] * x[m + f] / (x[0] * x[m]), 1, is_double ? 1e-12 : 1e-4);
  }
}

/// Half the square of (gain norm(q) + bias) . (gain norm(k) + bias), over d for y = x / d^(1/4).
TEST(RebasedFeatures, SquareAnAffineInnerProduct) {
  const std::size_t d = 4;
  const auto map = make_feature_map(spec_of("rebased", 1, d, 1));
  randomize(*map);
  const auto parameters = parameters_of(*map);
  const auto form = [&](const std::vector<double>& x) {
    double mean = 0, variance = 0;
    for (double e : x) mean += e / double(d);
    for (double e : x) variance += std::pow(e - mean, 2) / double(d);
    std::vector<double> u(d);
    for (std::size_t e = 0; e < d; ++e) {
      u[e] = double(parameters[0].parameter->value().data()[e]) * (x[e] - mean) /
                 std::sqrt(variance + 1e-5) +
             double(parameters[1].parameter->value().data()[e]);
    }
    return u;
  };
  for (const Pair& pair : pairs(d, 2)) {
    const double s = ScaledPair(form(pair.q), form(pair.k)).xy;
    EXPECT_NEAR(estimates_of(*map, 1, pair.q, pair.k)[0], s * s / 2, is_double ? 1e-12 : 1e-4);
  }
}

TEST(DpfpFeatures, MultiplyRolledCopies) {
  FeatureSpec spec = spec_of("dpfp", 1, 2, 1);
  spec.rolls = 2;
  Tensor x = uninitialized({1, 1, 1, 2});
  x.data()[0] = 2, x.data()[1] = -3;  // relu(x, -x) = 2 0 0 3
  const Tensor phi = features_of(*make_feature_map(spec), x);
  const double expected[] = {6, 0, 0, 0, 0, 0, 0, 0};  // rolled by one: 3 2 0 0; by two: 0 3 2 0
  ASSERT_EQ(phi.size(), 8u);
  for (std::size_t f = 0; f < 8; ++f) EXPECT_EQ(phi.data()[f], expected[f]) << f;
  spec.rolls = 4;
  EXPECT_EQ(op_check::error_of([&] { make_feature_map(spec); }),
            "[dpfp] rolls = 4 must be at least 1 and below 4");
}

/// Compares with loops: f(w_i . x + b_i).
TEST(ProjectedFeatures, AreFunctionsOfLearnedProjections) {
  const std::size_t d = 3, m = 4;
  const Tensor x = random_tensor({1, 1, 1, d}, 1);
  for (const std::string kind : {"elu", "t2r"}) {
    const auto map = make_feature_map(spec_of(kind, 1, d, m));
    randomize(*map);
    const auto parameters = parameters_of(*map);
    const Tensor phi = features_of(*map, x);
    for (std::size_t i = 0; i < m; ++i) {
      double u = kind == "t2r" ? double(parameters[1].parameter->value().data()[i]) : 0;
      for (std::size_t e = 0; e < d; ++e)
        u += double(parameters[0].parameter->value().data()[i * d + e]) * double(x.data()[e]);
      const double expected = kind == "t2r" ? std::max(u, 0.0) : (u > 0 ? u + 1 : std::exp(u));
      EXPECT_NEAR(phi.data()[i], expected, is_double ? 1e-14 : 1e-6) << kind;
    }
  }
}

/// exp(u) far below 0, where elu(u) + 1 rounds to 0.
TEST(EluFeatures, StayPositiveFarBelowZero) {
  FeatureSpec spec = spec_of("elu", 1, 2, 8);
  const auto map = make_feature_map(spec);
  initialize(*map, 1);
  const Tensor& w = parameters_of(*map)[0].parameter->value();  // (1, 8, 2)
  Tensor x = zeros({1, 1, 1, 2});
  x.data()[0] = real(-17), x.data()[1] = real(23);
  const Tensor phi = features_of(*map, x);
  for (std::size_t f = 0; f < 8; ++f) {
    const double u = double(w.data()[2 * f]) * -17 + double(w.data()[2 * f + 1]) * 23;
    const double expected = u > 0 ? u + 1 : std::exp(u);
    EXPECT_NEAR(double(phi.data()[f]) / expected, 1, is_double ? 1e-13 : 1e-4);
  }
}

TEST(ReluFeatures, AreRelu) {
  Tensor x = uninitialized({1, 1, 1, 2});
  x.data()[0] = 2, x.data()[1] = -3;
  const Tensor plain = features_of(*make_feature_map(spec_of("relu", 1, 2, 1)), x);
  EXPECT_NEAR(plain.data()[0], 2.001, 1e-6);
  EXPECT_NEAR(plain.data()[1], 0.001, 1e-9);
  const Tensor squared = features_of(*make_feature_map(spec_of("squared_relu", 1, 2, 1)), x);
  EXPECT_EQ(squared.data()[0], 4);
  EXPECT_EQ(squared.data()[1], 0);
}

}  // namespace features_pointwise_test
}  // namespace bochner::inline BOCHNER_PRECISION
