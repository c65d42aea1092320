#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/charts/page.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/studies/kernel_study.hpp>
#include <cmath>

#include "data/temporary_folder.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace estimator_study_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

FeatureSpec spec_of(const std::string& kind, const std::string& draws = "iid") {
  FeatureSpec spec;
  spec.kind = kind;
  spec.density.draws = draws;
  return with_standard_frequencies(spec);
}

/// Queries and keys small enough that a few thousand draws settle the variance.
KernelSample small_sample() {
  KernelSample sample = normal_sample(64, 4, 3);
  for (Tensor* rows : {&sample.blocks[0].q, &sample.blocks[0].k}) *rows = Tensor(*rows * real(0.5));
  return sample;
}

class Estimator : public testing::TestWithParam<const char*> {};

TEST_P(Estimator, HasTheVarianceOfItsClosedFormAndNoBias) {
  const EstimatorStudy study = study_estimator(spec_of(GetParam()), true, small_sample(),
                                               {.m = {8, 64}, .seeds = 200, .pairs = 64});
  ASSERT_TRUE(study.is_softmax);
  for (const ErrorAtM& row : study.rows) {
    EXPECT_LT(std::fabs(row.bias_sigmas.value()), 5) << row.m;
    ASSERT_TRUE(row.exact_variance.has_value());
    EXPECT_NEAR(row.variance, *row.exact_variance, 0.2 * *row.exact_variance) << row.m;
    EXPECT_NEAR(row.error, *row.exact_error, 0.15 * *row.exact_error) << row.m;
    EXPECT_LE(row.error_low, row.error);
    EXPECT_LE(row.error, row.error_high);
  }
  const double m = study.needed(0.01);
  EXPECT_NEAR(m, 64 * std::pow(*study.rows[1].exact_error / 0.01, 2), 1);
}

INSTANTIATE_TEST_SUITE_P(Maps, Estimator,
                         testing::Values("positive", "hyperbolic", "trigonometric"),
                         [](const auto& name) { return std::string(name.param); });

/// Every seed draws other gates and bases, whose own closed forms lie far apart.
TEST(Study, ComparesTheVarianceWithThatOfTheParametersOfAllSeeds) {
  for (const char* kind : {"hybrid_learned", "hybrid_gaussian", "hybrid"}) {
    const StudyOptions options{.m = {16}, .seeds = 400, .pairs = 64};
    const ErrorAtM row = study_estimator(spec_of(kind), true, small_sample(), options).rows.front();
    ASSERT_TRUE(row.exact_variance.has_value()) << kind;
    EXPECT_NEAR(row.variance, *row.exact_variance, 0.08 * *row.exact_variance) << kind;
  }
}

TEST(Study, CatchesABias) {
  FeatureSpec spec = spec_of("positive");
  spec.density.log_scale = 0.2;  // not N(0, I), but measured against its kernel
  const EstimatorStudy study =
      study_estimator(spec, true, small_sample(), {.m = {64}, .seeds = 100, .pairs = 64});
  EXPECT_GT(std::fabs(study.rows[0].bias_sigmas.value()), 5);
}

/// Skewed where it has no closed form of its own, and without any variance.
TEST(Study, FindsNoBiasWhereThereIsNone) {
  for (const char* kind : {"hybrid_cluster", "hybrid_learned", "hybrid"}) {
    const EstimatorStudy study = study_estimator(
        spec_of(kind, "orthogonal"), true, normal_sample(200, 8, 1), {.m = {64}, .seeds = 64});
    EXPECT_LT(std::fabs(study.rows[0].bias_sigmas.value()), 4) << kind;
  }
  KernelSample opposite = small_sample();
  opposite.blocks[0].k = Tensor(-opposite.blocks[0].q);
  SamplePair pair = pair_of(opposite, 0, 0, 0);
  for (std::size_t i = 0; i < 64; ++i)
    std::copy(pair.k.begin(), pair.k.end(), opposite.blocks[0].k.data() + i * 4);
  for (std::size_t i = 0; i < 64; ++i)
    std::copy(pair.q.begin(), pair.q.end(), opposite.blocks[0].q.data() + i * 4);
  const EstimatorStudy exact =
      study_estimator(spec_of("hyperbolic"), true, opposite, {.m = {16}, .seeds = 32, .pairs = 8});
  EXPECT_LT(exact.rows[0].error, 1e-5);  // of rounding alone
  EXPECT_LT(std::fabs(exact.rows[0].bias_sigmas.value()), 1);
}

TEST(Study, DoesNotMeasureAnInfiniteKernel) {
  FeatureSpec spec = spec_of("positive", "orthogonal");
  spec.density.kind = "cauchy";
  const KernelStudy study =
      study_kernel(spec, normal_sample(100, 4, 1), {.m = {8}, .seeds = 2, .pairs = 16});
  EXPECT_FALSE(study.configured.has_value() || study.definiteness.has_value());
  EXPECT_THAT(study_text(study, 0.1), HasSubstr("density cauchy: the kernel of positive features"));
  EXPECT_THAT(study_text(study, 0.1), Not(HasSubstr("nan")));
  EXPECT_THAT(study_json(study, 0.1), HasSubstr("\"infinite\""));
}

TEST(Study, SaysWhatIsNeededAsTextJsonAndPage) {
  FeatureSpec spec = spec_of("positive", "orthogonal");
  spec.density.log_scale = -1;
  const KernelStudy study =
      study_kernel(spec, normal_sample(100, 8, 1), {.m = {8, 16}, .seeds = 4, .pairs = 32});
  EXPECT_TRUE(study.configured.has_value());
  EXPECT_GT(study.maps.size(), 1u);
  EXPECT_GT(study.definiteness->smallest, -1e-4);
  EXPECT_NEAR(study.definiteness->asymmetry, 0, 1e-6);
  EXPECT_THAT(advice(study, 0.1).front(), HasSubstr("needed for 0.1"));
  EXPECT_THAT(study_text(study, 0.1), HasSubstr("against exp(q.k/sqrt(d))"));
  const Json json = Json::parse(study_json(study, 0.1));
  EXPECT_EQ(json["standard"].items().size(), 2u);
  EXPECT_GT(json["needed_m"].number(), 16);
  Page page("<study>", "&");
  add_study(page, study, 0.1);
  EXPECT_EQ(xml_problem(page.html()), "");
}

/// A mean that holds a row's own draws tells nothing of its bias.
TEST(Study, JudgesDrawsByThoseOfOtherSizes) {
  const FeatureSpec spec = spec_of("positive");
  const auto biases = [&](const std::vector<std::size_t>& m) {
    return study_estimator(spec, false, small_sample(), {.m = m, .seeds = 8, .pairs = 32}).rows;
  };
  const auto alone = biases({16});
  EXPECT_FALSE(alone[0].bias.has_value());
  EXPECT_FALSE(alone[0].bias_sigmas.has_value());
  const auto two = biases({16, 64});
  EXPECT_NEAR(two[0].bias.value(), -two[1].bias.value(), 1e-12);
  EXPECT_GT(std::fabs(two[0].bias.value()), 1e-4);
  EXPECT_LT(std::fabs(two[0].bias_sigmas.value()), 5);
}

/// Neither -nan nor silence.
TEST(Study, SaysWhereTrigonometricFeaturesEnd) {
  const StudyOptions options{.m = {16}, .seeds = 2, .pairs = 16};
  const KernelStudy large =
      study_kernel(spec_of("trigonometric"), normal_sample(32, 64, 1, 4.5), options);
  EXPECT_THAT(study_text(large, 0.1), Not(HasSubstr("nan")));
  EXPECT_THAT(study_text(large, 0.1), HasSubstr("trigonometric features, also in hybrids"));
  for (const MapComparison& map : large.maps)
    EXPECT_FALSE(std::isnan(map.result.error)) << map.features;
  const KernelStudy usual = study_kernel(spec_of("trigonometric"), small_sample(), options);
  EXPECT_THAT(study_text(usual, 0.1), Not(HasSubstr("also in hybrids")));
}

TEST(Study, OfTheSameSeedsIsTheSame) {
  const StudyOptions options{.m = {16}, .seeds = 3, .pairs = 16};
  const auto once = study_estimator(spec_of("positive"), true, small_sample(), options);
  const auto again = study_estimator(spec_of("positive"), true, small_sample(), options);
  EXPECT_EQ(once.rows[0].error, again.rows[0].error);
  EXPECT_EQ(once.rows[0].attention, again.rows[0].attention);
}

TEST(Sample, TakesRowsOfEachHead) {
  Tensor q = uninitialized({1, 6, 2, 1});
  for (std::size_t i = 0; i < 12; ++i) q.data()[i] = real(i);
  const KernelSample sample = sample_of_heads("layer", q, q, 6);
  ASSERT_EQ(sample.blocks.size(), 2u);
  const Tensor& second = sample.blocks[1].q;
  EXPECT_THAT(std::vector<real>(second.begin(), second.end()), ElementsAre(1, 5, 9));
  for (const SamplePair& pair : choose_pairs(sample, 50)) {
    EXPECT_LT(pair.block, 2u);
    EXPECT_LT(pair.query, 3u);
  }
}

TEST(Median, AndQuantilesAreThoseOfSortedNumbers) {
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(quantile_of({4, 1, 3, 2, 0}, 0.25), 1);
  EXPECT_EQ(median({}), 0);
}

}  // namespace estimator_study_test
}  // namespace bochner
