#include <gtest/gtest.h>

#include <bochner/train/run/instruments/head_metrics.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>
#include <bochner/train/run/instruments/trained_study.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/studies/kernel_study.hpp>
#include <bochner/train/studies/learned_pages.hpp>
#include <cmath>

namespace bochner {
namespace trained_study_test {

constexpr std::size_t T = 24, H = 2, d = 4;

AttentionSample sample_of() {
  const SampleBlock block = normal_sample(T * H, d, 3, 0.6).blocks.front();
  AttentionSample sample;
  sample.q = block.q, sample.k = block.k;
  sample.q.reshape(Shape{1, T, H, d}), sample.k.reshape(Shape{1, T, H, d});
  return sample;
}

std::unique_ptr<FeatureMap> map_of(const std::string& kind, std::size_t m) {
  FeatureSpec spec;
  spec.kind = kind, spec.heads = H, spec.dim = d, spec.m = m;
  spec.density = {.draws = "iid", .heads = H, .m = m, .dim = d, .log_scale = -0.5};
  auto map = make_feature_map(spec);
  initialize(*map, 1);
  return map;
}

TEST(TrainedStudy, PredictsWhatItMeasuresAndLeavesTheMapAsItWas) {
  for (const char* kind : {"positive", "fourier", "hybrid", "hybrid_angular"}) {
    const auto map = map_of(kind, 128);
    const auto before = buffers_of(*map).front();
    const Tensor noise = *before.tensor;
    const AttentionLayer layer{"layer", nullptr, map.get(), nullptr};
    const auto study = study_trained(layer, sample_of(), {.draws = "iid", .sets = 128});
    ASSERT_TRUE(study) << kind;
    EXPECT_EQ(*before.tensor, noise) << kind;
    EXPECT_EQ(study->m, 128u);
    ASSERT_EQ(study->heads.size(), H);
    EXPECT_NEAR(study->predicted() / study->measured(), 1, 0.15) << kind;
    for (const TrainedHead& head : study->heads) {
      EXPECT_LT(head.needed.low, head.needed.value);
      EXPECT_LT(head.needed.value, head.needed.high);
      EXPECT_LT(head.bias, head.measured) << kind;
    }
    EXPECT_EQ(Json::parse(trained_json(*study, 0.1))["heads"].items().size(), H);
  }
}

/// Four times the draws, half of the error; and no draws, no study.
TEST(TrainedStudy, FallsWithTheRootOfM) {
  double errors[2];
  for (std::size_t i : {0, 1}) {
    const auto map = map_of("positive", i == 0 ? 64 : 256);
    errors[i] = study_trained({"layer", nullptr, map.get(), nullptr}, sample_of(),
                              {.draws = "iid", .sets = 128})
                    ->measured();
  }
  EXPECT_NEAR(errors[0] / errors[1], 2, 0.3);
  const auto map = map_of("hedgehog", 8);
  EXPECT_FALSE(study_trained({"layer", nullptr, map.get(), nullptr}, sample_of(), {}));
}

/// Of independent draws what their terms say; of dependent ones what those cannot say.
TEST(RedrawnErrors, AreNotThoseOfIndependentTermsWhereDrawsDepend) {
  const AttentionSample sample = sample_of();
  const auto ratio = [&](const char* kind, const char* draws) {
    const auto map = map_of(kind, 128);
    const Tensor noise = *buffers_of(*map).front().tensor;
    const AttentionLayer layer{"layer", nullptr, map.get(), nullptr};
    const auto errors = redrawn_errors(layer, sample, {.draws = draws, .sets = 64});
    EXPECT_EQ(errors.size(), H);
    EXPECT_EQ(*buffers_of(*map).front().tensor, noise);
    double mean = 0;
    for (std::size_t h = 0; h < H; ++h)
      mean += errors[h] / head_metrics(layer, sample, T)[h].error / double(H);
    return mean;
  };
  EXPECT_NEAR(ratio("positive", "iid"), 1, 0.15);
  EXPECT_LT(ratio("positive", "orthogonal"), 0.95);
  EXPECT_LT(ratio("positive", "sobol_owen"), 0.6);
  EXPECT_LT(ratio("fourier", "iid"), 0.9) << "sine and cosine of a frequency";
}

TEST(RedrawnErrors, AreOfDrawsOnly) {
  for (const char* kind : {"hedgehog", "wpff_fixed"}) {
    const auto map = map_of(kind, 8);
    EXPECT_TRUE(redrawn_errors({"layer", nullptr, map.get(), nullptr}, sample_of(), {}).empty());
  }
}

TEST(AttentionParts, SortWeightsByStageAndRegion) {
  constexpr std::size_t n = 200;
  Tensor weights = zeros({n, n});
  for (std::size_t i = 0; i < n; ++i) weights(i, i >= 100 && i >= 5 ? i - 5 : i) = 1;
  const Tensor parts = weight_by_region(weights);
  for (std::size_t stage = 0; stage < attention_stages; ++stage)
    for (std::size_t r = 0; r < attention_regions; ++r)
      EXPECT_NEAR(double(parts(stage, r)), r == (stage < 2 ? 0u : 2u) ? 1 : 0, 1e-5);
}

TEST(AttentionParts, ShareTheSumOfAQueryAmongFrequencies) {
  Tensor q = filled({2, 4}, real(1)), k = filled({2, 4}, real(1)), factors = zeros({2, 2});
  factors(0, 0) = factors(1, 0) = factors(1, 1) = 1;
  k(1, 0) = 5;  // of frequency 0 with m = 2, seen by the second query
  const std::vector<double> shares = frequency_shares(q, k, factors, 2);
  EXPECT_NEAR(shares[0], (2.0 / 4 + 8.0 / 12) / 2, 1e-6);
  EXPECT_NEAR(shares[0] + shares[1], 1, 1e-6);
}

}  // namespace trained_study_test
}  // namespace bochner
