#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/layers/features/closed_forms.hpp>
#include <numbers>

#include "layers/features/features_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace features_hybrid_test {

using namespace features_check;

FeatureSpec hybrid_of(const char* kind, std::size_t heads, std::size_t d, std::size_t m,
                      std::size_t lambda) {
  FeatureSpec spec = spec_of(kind, heads, d, m);
  spec.lambda = lambda, spec.tau = 0.8;
  return spec;
}

/// Both estimators share draws of w; those of lambda are independent.
TEST(HybridFeatures, HaveTheirKernelAndTheirMeanSquaredError) {
  for (const char* kind : {"hybrid_angular", "hybrid_gaussian"}) {
    for (std::size_t d : {2, 4, 9}) {
      expect_closed_forms(hybrid_of(kind, 20000, d, 1, 1), 0.8);
      expect_closed_forms(hybrid_of(kind, 8000, d, 3, 4), 0.8);
    }
  }
}

TEST(HybridFeatures, HaveAsManyFeaturesAsTheFormulasSay) {
  Tape tape;
  const std::size_t m = 3, n = 5;
  const auto count = [&](const char* kind) {
    return make_feature_map(hybrid_of(kind, 1, 2, m, n))
        ->features(tape, zeros({1, 1, 1, 2}))
        .values()
        .dim(-1);
  };
  EXPECT_EQ(count("hybrid_angular"), 4 * m * (n + 1));
  EXPECT_EQ(count("hybrid_gaussian"), 4 * m * (2 * n + 1));
}

TEST(AngularHybrid, IsExactAtAnglesZeroAndPi) {
  for (std::size_t d : {1, 4, 9}) {
    const std::vector<double> x = vector_of(d, 1.5 * std::pow(double(d), 0.25), 1);
    const double square = ScaledPair(x, x).xx;
    const auto map = make_feature_map(hybrid_of("hybrid_angular", 50, d, 2, 3));
    expect_exact(*map, 50, x, x, std::exp(square));
    expect_exact(*map, 50, x, negative(x), std::exp(-square));
    EXPECT_NEAR(map->variance(x, x).value(), 0, 1e-9);
    EXPECT_NEAR(map->variance(x, negative(x)).value(), 0, 1e-9);
  }
}

/// On a sphere, variance() is (2/m) [E lambda^2 sinh^2(2 r^2 cos^2(t/2)) + E (1 - lambda)^2
/// sinh^2(2 r^2 sin^2(t/2))] relative to the squared kernel; the covariance vanishes there.
TEST(AngularHybrid, HasTheRelativeErrorOfTheSphere) {
  const std::size_t m = 7, n = 4;
  const auto map = make_feature_map(hybrid_of("hybrid_angular", 1, 2, m, n));
  const double r = 1.3, scale = r * std::pow(2, 0.25);
  for (double angle : {0.3, 1.0, 1.8, 2.9}) {
    const std::vector<double> x = {scale, 0},
                              y = {scale * std::cos(angle), scale * std::sin(angle)};
    const double t = angle / std::numbers::pi, rest = 1 - t;
    const double square = t * (t - t / double(n) + 1 / double(n));
    const double rest_square = rest * (rest + t / double(n));
    const double expected =
        2 / double(m) *
        (square * std::pow(std::sinh(2 * r * r * std::pow(std::cos(angle / 2), 2)), 2) +
         rest_square * std::pow(std::sinh(2 * r * r * std::pow(std::sin(angle / 2), 2)), 2));
    EXPECT_NEAR(map->variance(x, y).value() / std::pow(map->kernel(x, y).value(), 2) / expected, 1,
                1e-9);
  }
}

/// Returns the relative root mean square error at the worst pair with |x|, |y| <= r, y = x /
/// d^(1/4).
double worst_error(const FeatureMap& map, double r) {
  constexpr std::size_t steps = 40;
  const double scale = std::pow(2, 0.25);
  double worst = 0;
  for (double first : {0.2, 0.6, 1.0})
    for (double second : {0.2, 0.6, 1.0})
      for (std::size_t i = 0; i <= steps; ++i) {
        const double angle = std::numbers::pi * double(i) / double(steps);
        const std::vector<double> x = {scale * r * first, 0},
                                  y = {scale * r * second * std::cos(angle),
                                       scale * r * second * std::sin(angle)};
        worst = std::max(
            worst, std::sqrt(std::max(0.0, map.variance(x, y).value())) / map.kernel(x, y).value());
      }
  return worst;
}

/// "A strictly smaller maximal relative error" (Choromanski et al., 2022): the supremum over pairs
/// is below that of both estimators, increasingly so for longer vectors.
TEST(AngularHybrid, HasTheSmallerMaximalRelativeErrorOfBothBases) {
  const std::size_t m = 5, n = 8;
  double part = 1;
  for (double r : {1.2, 1.6, 2.0, 2.4}) {
    const auto of = [&](const char* kind) {
      return worst_error(*make_feature_map(hybrid_of(kind, 1, 2, m, n)), r);
    };
    const double bases = std::min(of("trigonometric"), of("hyperbolic"));
    EXPECT_NEAR(bases, std::sqrt(2 / double(m)) * std::sinh(2 * r * r), 1e-6 * bases);
    const double own = of("hybrid_angular") / bases;
    EXPECT_LT(own, 0.9 * part) << r;
    part = std::max(own, 0.3);
  }
}

TEST(AngularHybrid, StaysUnbiasedWithSmoothLearnedFunctions) {
  FeatureSpec spec = hybrid_of("hybrid_angular", 8000, 3, 2, 3);
  spec.smooth = true;
  const auto map = make_feature_map(spec);
  EXPECT_EQ(names_of(*map).back(), "directions");
  for (const Pair& pair : pairs(3, 0.8)) {
    const Moments moments(estimates_of(*map, spec.heads, pair.q, pair.k));
    EXPECT_NEAR(moments.mean, ScaledPair(pair.q, pair.k).softmax(), 5 * moments.mean_error());
    EXPECT_FALSE(map->variance(pair.q, pair.k).has_value());
  }
}

/// Sets equal gates for all heads, so that heads differ in their draws only.
void set_equal(FeatureMap& map, std::size_t heads) {
  for (const NamedParameter& named : parameters_of(map)) {
    if (named.name.starts_with("density")) continue;
    Tensor& value = named.parameter->value();
    const std::size_t own = value.size() / heads;
    const RandomFunction random{3, Purpose::test, stream_of(named.name.c_str())};
    for (std::size_t i = 0; i < value.size(); ++i) value.data()[i] = real(random.normal(i % own));
  }
}

TEST(GatedHybrid, HasNoBiasWhateverItsGates) {
  const std::size_t heads = 10000;
  for (const char* kind : {"hybrid_learned", "hybrid_cluster"}) {
    for (std::size_t d : {2, 4, 6}) {
      FeatureSpec spec = spec_of(kind, heads, d, 3);
      spec.bases = 3, spec.gates = 2;
      const auto map = make_feature_map(spec);
      set_equal(*map, heads);
      for (const Pair& pair : pairs(d, 0.4)) {
        const Moments moments(estimates_of(*map, heads, pair.q, pair.k));
        EXPECT_NEAR(moments.mean, ScaledPair(pair.q, pair.k).softmax(), 5 * moments.mean_error())
            << kind << ", d " << d;
        EXPECT_GT(moments.variance, 0);
      }
    }
  }
}

/// Each head is a node of Simpson's rule over the one frequency.
TEST(GatedHybrid, HasTheVarianceOfItsClosedForm) {
  const std::size_t heads = 4001;
  const double end = 16, step = 2 * end / double(heads - 1);
  for (const char* kind : {"hybrid_learned", "hybrid_cluster"}) {
    FeatureSpec spec = spec_of(kind, heads, 1, 1);
    spec.bases = 3, spec.gates = 2;
    const auto map = make_feature_map(spec);
    set_equal(*map, heads);
    for (const NamedTensor& buffer : buffers_of(*map))
      if (buffer.name.ends_with("noise"))
        for (std::size_t h = 0; h < heads; ++h)
          buffer.tensor->data()[h] = real(step * double(h) - end);
    for (const Pair& pair : pairs(1, 0.6)) {
      const std::vector<double> values = estimates_of(*map, heads, pair.q, pair.k);
      double second = 0;
      for (std::size_t h = 0; h < heads; ++h) {
        const double w = step * double(h) - end;
        const double node = h == 0 || h + 1 == heads ? 1 : h % 2 == 1 ? 4 : 2;
        second += node * step / 3 * std::exp(-w * w / 2) / std::sqrt(2 * std::numbers::pi) *
                  values[h] * values[h];
      }
      const double kernel = ScaledPair(pair.q, pair.k).softmax();
      EXPECT_NEAR(map->variance(pair.q, pair.k, 7).value(), second - kernel * kernel,
                  (is_double ? 1e-6 : 1e-3) * second)
          << kind;
    }
  }
}

/// Queries and keys in two clusters each, of opposite sign: far less error than positive features.
TEST(ClusterHybrid, CalibratedToClustersVariesLess) {
  const std::size_t heads = 2000, d = 6, n = 40;
  const std::vector<double> a = vector_of(d, 2.5, 1), b = vector_of(d, 2.5, 2);
  Tensor q = uninitialized({n, heads, d}), k = uninitialized({n, heads, d});
  const RandomFunction random{9, Purpose::test, 3};
  for (std::size_t i = 0; i < q.size(); ++i) {
    const std::size_t row = i / d / heads, e = i % d;
    const double noise = 0.05 * random.normal(row * d + e);
    q.data()[i] = real((row % 2 == 0 ? a[e] : b[e]) + noise);
    k.data()[i] = real(-0.3 * (row % 2 == 0 ? a[e] : b[e]) + noise);
  }
  FeatureSpec spec = spec_of("hybrid_cluster", heads, d, 4);
  const auto map = make_feature_map(spec);
  initialize(*map, 1);
  map->calibrate(q, k);
  spec.kind = "positive";
  const auto positive = make_feature_map(spec);
  for (const auto& query : {a, b}) {
    std::vector<double> key = negative(query);
    for (double& e : key) e *= 0.3;
    const Moments hybrid(estimates_of(*map, heads, query, key));
    EXPECT_NEAR(hybrid.mean, ScaledPair(query, key).softmax(), 5 * hybrid.mean_error() + 1e-6);
    EXPECT_LT(hybrid.variance, 0.01 * positive->variance(query, key).value());
  }
}

/// A disabled base has weight 0 and no gradient.
TEST(LearnedHybrid, MayTurnABaseOff) {
  FeatureSpec spec = spec_of("hybrid_learned", 1, 2, 3);
  const auto map = make_feature_map(spec);
  initialize(*map, 1);
  for (const NamedParameter& named : parameters_of(*map)) {
    Tensor& value = named.parameter->value();
    for (std::size_t i = 0; i < value.size() && named.name.ends_with("mixing"); ++i)
      value.data()[i] = real(i < value.size() / 2 ? 500 : -500);
  }
  Tape tape;
  const Var x(random_tensor({1, 4, 1, 2}, 1));
  Parameter input{x.value()};
  const Var y = map->features(tape, tape(input)).values();
  tape.backward(sum(y));
  EXPECT_TRUE(all_finite(input.gradient().data(), input.gradient().size()));
}

/// The base of a query cluster and a key cluster cancels their sum.
TEST(ClusterHybrid, HasABaseForEachPairOfClusters) {
  const std::size_t d = 6, n = 40;
  const std::vector<double> a = vector_of(d, 1.5, 1);
  Tensor q = uninitialized({n, 1, d}), k = uninitialized({n, 1, d});
  const RandomFunction random{9, Purpose::test, 3};
  for (std::size_t i = 0; i < q.size(); ++i) {
    const double size = i / d % 2 == 0 ? 1 : 3, noise = 0.02 * random.normal(i);
    q.data()[i] = real(size * a[i % d] + noise);
    k.data()[i] = real(-0.3 * size * a[i % d] + noise);
  }
  const auto map = make_feature_map(spec_of("hybrid_cluster", 1, d, 4));
  initialize(*map, 1);
  map->calibrate(q, k);
  std::vector<double> key = negative(a);
  for (double& e : key) e *= 0.9;
  const double kernel = ScaledPair(a, key).softmax();
  EXPECT_LT(map->variance(a, key, 0).value(), 0.01 * kernel * kernel);
}

}  // namespace features_hybrid_test
}  // namespace bochner::inline BOCHNER_PRECISION
