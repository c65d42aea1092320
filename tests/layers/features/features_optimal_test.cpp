#include <bochner/layers/features/closed_forms.hpp>
#include <map>

#include "layers/features/features_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace features_optimal_test {

using namespace features_check;

const char* const kinds[] = {"oprf", "saderf", "sderf", "aderf"};

Tensor& parameter_of(FeatureMap& map, const std::string& name) {
  for (const NamedParameter& named : parameters_of(map)) {
    if (named.name == name) return named.parameter->value();
  }
  throw std::invalid_argument("no parameter " + name);
}

/// Sets parameters, equally for all heads.
void set(FeatureMap& map, const std::string& name, const std::vector<double>& values) {
  Tensor& to = parameter_of(map, name);
  for (std::size_t i = 0; i < to.size(); ++i) to.data()[i] = real(values[i % values.size()]);
}

TEST(OptimalFeatures, HaveTheirKernelAndTheirExactVariance) {
  for (const char* kind : kinds) {
    for (std::size_t d : {2, 4, 9}) {
      for (std::size_t m : {1, 3}) expect_closed_forms(spec_of(kind, 8000, d, m), 0.8);
    }
  }
}

std::vector<double> random_numbers(std::size_t n, std::uint64_t stream) {
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = RandomFunction{7, Purpose::test, stream}.normal(i);
  return x;
}

/// Any A < 0 (else the fourth moment may be infinite) and any Psi: unbiased, with the variance of
/// the formula.
TEST(OptimalFeatures, AreRightWithAnyParameters) {
  const std::size_t heads = 15000, d = 3;
  for (const char* kind : {"oprf", "saderf", "sderf"}) {
    const auto map = make_feature_map(spec_of(kind, heads, d, 2));
    const std::vector<double> log_psi = random_numbers(d, 4);
    std::vector<double> log_rho = random_numbers(d, 3);
    for (double& e : log_rho) e = -std::abs(e);
    set(*map, "log_rho", {log_rho.begin(), log_rho.begin() + (kind[1] == 'd' ? d : 1)});
    if (std::string(kind) == "saderf") set(*map, "log_psi", log_psi);
    for (const Pair& pair : pairs(d, 0.5)) {
      const Moments moments(estimates_of(*map, heads, pair.q, pair.k));
      EXPECT_NEAR(moments.mean, ScaledPair(pair.q, pair.k).softmax(), 5 * moments.mean_error());
      EXPECT_NEAR(moments.variance, map->variance(pair.q, pair.k).value(),
                  5 * moments.variance_error())
          << kind;
    }
  }
}

TEST(OptimalFeatures, AreThePositiveOnesWhereAIsZero) {
  FeatureSpec spec = spec_of("oprf", 2, 4, 5);
  const auto map = make_feature_map(spec);
  set(*map, "log_rho", {0});
  spec.kind = "positive";
  const auto positive = make_feature_map(spec);
  const std::vector<double> q = vector_of(4, 1, 1), k = vector_of(4, 2, 2);
  const auto a = estimates_of(*map, 2, q, k), b = estimates_of(*positive, 2, q, k);
  for (std::size_t h = 0; h < 2; ++h) EXPECT_NEAR(a[h], b[h], is_double ? 1e-13 : 1e-5);
  EXPECT_NEAR(map->variance(q, k).value(), positive->variance(q, k).value(), 1e-6);
}

/// Variance in closed form on a grid of A.
TEST(OptimalFeatures, HaveTheirLeastVarianceAtTheOptimum) {
  for (std::size_t d : {1, 4, 16}) {
    for (const Pair& pair : pairs(d, 1.2)) {
      const ScaledPair scaled(pair.q, pair.k);
      const auto second = [&](double A) {
        double product = 1;
        for (std::size_t l = 0; l < d; ++l)
          product *= optimal_second_moment(scaled.x[l], scaled.y[l], 1 - 8 * A);
        return product;
      };
      const double best = optimal_exponent(double(d), scaled.sum());
      EXPECT_LT(best, 0);
      EXPECT_LT(second(best), second(0));
      for (double A = -2; A < 0.12; A += 0.01) EXPECT_LE(second(best), second(A) * (1 + 1e-12));
      EXPECT_NEAR(optimal_log_rho(double(d), scaled.sum()), -std::log(1 - 8 * best), 1e-12);
    }
  }
}

/// Returns queries and keys (n, 1, d) with means, unequal scales and correlations.
Tensor samples(std::size_t n, std::size_t d, std::uint64_t stream) {
  const Tensor noise = random_tensor({n, 1, d}, stream), mix = random_tensor({d, d}, stream + 1),
               mean = random_tensor({d}, stream + 2);
  Tensor x = zeros({n, 1, d});
  for (std::size_t i = 0; i < n * d; ++i) {
    for (std::size_t j = 0; j < d; ++j)
      x.data()[i] += real(0.4) * mix.data()[i % d * d + j] * noise.data()[i / d * d + j];
    x.data()[i] += real(0.3) * mean.data()[i % d];
  }
  return x;
}

std::vector<double> row_of(const Tensor& x, std::size_t i, std::size_t d) {
  return {x.data() + i * d, x.data() + (i + 1) * d};
}

/// Returns the mean over pairs of ln (1 + relative variance), the objective of the optima.
double mean_log_variance(const FeatureMap& map, const Tensor& q, const Tensor& k, std::size_t d) {
  double sum = 0;
  const std::size_t n = q.shape()[0];
  for (std::size_t i = 0; i < n; ++i) {
    const std::vector<double> x = row_of(q, i, d), y = row_of(k, (7 * i + 3) % n, d);
    sum += std::log1p(map.variance(x, y).value() / std::pow(map.kernel(x, y).value(), 2));
  }
  return sum / double(n);
}

TEST(OptimalFeatures, CalibratedToSamplesVaryLessAndStayRight) {
  const std::size_t d = 4, n = 400;
  Tensor q = samples(n, d, 10), k = samples(n, d, 20);
  for (std::size_t i = 0; i < q.size(); ++i) {
    const real factor = i % d == 0 ? 3 : 1;  // one coordinate of another size
    q.data()[i] *= factor, k.data()[i] /= factor;
  }
  std::map<std::string, double> before, after;
  for (const char* kind : kinds) {
    const auto map = make_feature_map(spec_of(kind, 1, d, 1));
    before[kind] = mean_log_variance(*map, q, k, d);
    map->calibrate(q, k);
    after[kind] = mean_log_variance(*map, q, k, d);
    EXPECT_LT(after[kind], before[kind]) << kind;
  }
  EXPECT_LT(after["saderf"], after["oprf"]);
  EXPECT_LT(after["aderf"], after["saderf"]);
  EXPECT_LT(after["sderf"], after["oprf"]);
}

/// calibrate() keeps M_q^T M_k = I, so the estimate stays unbiased.
TEST(OptimalFeatures, CalibratedOnesHaveNoBias) {
  const std::size_t d = 3, heads = 20000;
  const Tensor q = samples(50, d, 10), k = samples(50, d, 20);
  for (const char* kind : kinds) {
    Tensor queries = zeros({50, heads, d}), keys = zeros({50, heads, d});
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const std::size_t from = i / d / heads * d + i % d;
      queries.data()[i] = q.data()[from], keys.data()[i] = k.data()[from];
    }
    const auto map = make_feature_map(spec_of(kind, heads, d, 2));
    map->calibrate(queries, keys);
    for (std::size_t i = 0; i < 4; ++i) {
      const auto x = row_of(q, i, d), y = row_of(k, i + 1, d);
      const Moments moments(estimates_of(*map, heads, x, y));
      EXPECT_NEAR(moments.mean, ScaledPair(x, y).softmax(), 5 * moments.mean_error()) << kind;
      EXPECT_NEAR(moments.variance, map->variance(x, y).value(), 5 * moments.variance_error())
          << kind;
    }
  }
  EXPECT_EQ(op_check::error_of([&] {
              make_feature_map(spec_of("oprf", 1, d, 1))->calibrate(zeros({4, 1, 2}), k);
            }),
            "[calibrate] samples must be (n, H, 3), n > 0, not (4, 1, 2)");
}

}  // namespace features_optimal_test
}  // namespace bochner::inline BOCHNER_PRECISION
