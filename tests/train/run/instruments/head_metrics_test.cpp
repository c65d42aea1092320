#include <gtest/gtest.h>

#include <bochner/train/run/instruments/attention.hpp>
#include <bochner/train/run/instruments/head_metrics.hpp>
#include <bochner/train/storage/json.hpp>
#include <cmath>

#include "autodiff/op_check.hpp"

namespace bochner {
namespace head_metrics_test {

using op_check::random_tensor;

Tensor matrix(std::size_t rows, std::size_t columns, const std::vector<real>& values) {
  Tensor x = uninitialized({rows, columns});
  std::copy(values.begin(), values.end(), x.data());
  return x;
}

TEST(MeanEntropy, IsThatOfEachRowsPositiveWeights) {
  EXPECT_NEAR(mean_entropy(filled({3, 5}, 2)), std::log(5), 1e-6);
  EXPECT_NEAR(mean_entropy(matrix(2, 2, {1, 0, 0.5, 0.5})), std::log(2) / 2, 1e-6);
  EXPECT_NEAR(mean_entropy(matrix(1, 3, {0.5, 0.5, -0.25})), std::log(2), 1e-6);
  EXPECT_EQ(mean_entropy(zeros({2, 3})), 0);
}

TEST(NumericalRank, CountsDirectionsThatAreNotCombinationsOfOthers) {
  EXPECT_EQ(numerical_rank({matrix(3, 3, {2, 0, 0, 0, 3, 0, 0, 0, 0.01})}), 3u);
  EXPECT_EQ(numerical_rank({matrix(3, 3, {1, 0, 0, 0, 1, 0, 1, 1, 0})}), 2u);
  EXPECT_EQ(numerical_rank({matrix(2, 2, {1, 0, 1, 0.001})}), 1u);
  EXPECT_EQ(numerical_rank({zeros({4, 3})}), 0u);
  EXPECT_EQ(numerical_rank({random_tensor({9, 4}, 1)}), 4u);
}

/// An attention layer over one map, and what goes through it.
struct Sampled {
  explicit Sampled(const std::string& kind, double log_scale, std::uint64_t seed = 1) {
    FeatureSpec spec;
    spec.kind = kind, spec.heads = 1, spec.dim = 4, spec.m = 512;
    spec.density.heads = 1, spec.density.dim = 4, spec.density.m = 512;
    spec.density.draws = "iid", spec.density.log_scale = log_scale, spec.density.seed = seed;
    map = make_feature_map(spec);
    initialize(*map, 1);
    layer.features = map.get();
    sample.q = random_tensor({1, 24, 1, 4}, 2), sample.k = random_tensor({1, 24, 1, 4}, 3);
  }
  HeadMetrics metrics() const { return head_metrics(layer, sample, 256).at(0); }

  std::unique_ptr<FeatureMap> map;
  AttentionLayer layer;
  AttentionSample sample;
};

/// One feature that is always 1: all weights are equal, and no feature more would change that.
struct Constant : FeatureMap {
  Features features(Tape& tape, const Var& x) override {
    return tape.constant(filled({x.dim(0), x.dim(1), x.dim(2), 1}, 1));
  }
  void visit(Visitor&) override {}
};

TEST(HeadMetrics, OfAConstantKernelHaveAllItsErrorAsBias) {
  Sampled one("positive", 0);
  Constant map;
  one.layer.features = &map;
  const HeadMetrics metrics = one.metrics();
  const Tensor exact = attention_maps(one.layer, one.sample, 256)[0].exact;
  double error = 0, size = 0, logs = 0;
  for (std::size_t i = 0; i < 24; ++i) {
    logs += std::log(double(i + 1)) / 24;
    for (std::size_t j = 0; j <= i; ++j) {
      const double w = double(exact.data()[i * 24 + j]);
      error += std::pow(w - 1 / double(i + 1), 2), size += w * w;
    }
  }
  EXPECT_NEAR(metrics.bias, std::sqrt(error / size), 1e-5);
  EXPECT_EQ(metrics.deviation, 0);
  EXPECT_NEAR(metrics.estimated_entropy, logs, 1e-5);
  EXPECT_LT(metrics.entropy, metrics.estimated_entropy);
  EXPECT_EQ(metrics.rank, 1);
  EXPECT_NEAR(metrics.effective_features, 1, 1e-4);
}

/// In both directions the order of tokens changes no error; in one it does.
TEST(HeadMetrics, CountAllKeysThatAreSeen) {
  Sampled one("positive", 0);
  const auto change = [&](bool causal) {
    one.sample.causal = causal;
    const double before = one.metrics().error;
    for (Tensor* x : {&one.sample.q, &one.sample.k}) *x = Tensor(xt::flip(Tensor(*x), 1));
    return std::abs(one.metrics().error - before);
  };
  EXPECT_LT(change(false), 1e-5);
  EXPECT_GT(change(true), 1e-4);
}

/// Frequencies of N(0, 1) estimate softmax's kernel without bias, others another kernel.
TEST(HeadMetrics, TellBiasFromDeviation) {
  double own = 0, other = 0;  // bias^2 over the square of the error
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const double log_scale : {0.0, -1.0}) {
      const HeadMetrics metrics = Sampled("positive", log_scale, seed).metrics();
      const double bias = metrics.bias * metrics.bias;
      (log_scale == 0 ? own : other) += bias / (bias + metrics.deviation * metrics.deviation) / 20;
    }
  EXPECT_LT(own, 0.4);
  EXPECT_GT(other, 0.8);
}

/// Scales 1 and 2 of the same points are 1 apart, relative to the root of (1 + 4) / 2.
TEST(HeadDistance, IsThatOfFrequenciesByEqualNoise) {
  DensitySpec spec;
  spec.heads = 2, spec.m = 16, spec.dim = 3;
  EXPECT_NEAR(head_distance(*make_density(spec)), 0, 1e-6);
  spec.spread = 1;
  const auto density = make_density(spec);
  initialize(*density, 1);
  EXPECT_NEAR(head_distance(*density), 1 / std::sqrt(2.5), 1e-5);
  spec.heads = 1;
  EXPECT_EQ(head_distance(*make_density(spec)), 0);
}

TEST(HeadMetrics, AreMeansAndNumbersOfEachHeadInJson) {
  const Json json = json_of(std::vector<HeadMetrics>{{.entropy = 1, .rank = 3}, {.entropy = 2}});
  EXPECT_EQ(json["entropy"].number(), 1.5);
  EXPECT_EQ(json["rank"].number(), 1.5);
  EXPECT_EQ(json["heads"]["rank"].items().at(0).number(), 3);
  EXPECT_EQ(json["heads"]["bias"].items().size(), 2u);
}

}  // namespace head_metrics_test
}  // namespace bochner
