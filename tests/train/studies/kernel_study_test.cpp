#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/train/run/instruments/attention.hpp>
#include <bochner/train/run/instruments/density_curves.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <bochner/train/run/log/metrics.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/studies/cluster_experiment.hpp>
#include <bochner/train/studies/fits.hpp>
#include <bochner/train/studies/kernel_study.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "data/temporary_folder.hpp"

namespace bochner {
namespace kernel_study_test {

using testing::HasSubstr;

Tensor matrix(std::size_t rows, std::size_t columns, const std::vector<real>& values) {
  Tensor y = uninitialized({rows, columns});
  std::copy(values.begin(), values.end(), y.data());
  return y;
}

void expect_near(const std::vector<double>& numbers, const std::vector<double>& expected) {
  ASSERT_EQ(numbers.size(), expected.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_NEAR(numbers[i], expected[i], 1e-6) << i;
}

/// Features that a test chooses; x is not looked at.
struct FixedFeatures : FeatureMap {
  explicit FixedFeatures(Tensor values) : values(std::move(values)) {}
  Features features(Tape& tape, const Var&) override { return tape.view(values); }
  void visit(Visitor&) override {}
  Tensor values;
};

KernelMetrics metrics_of(const std::vector<real>& features, std::size_t T, std::size_t F) {
  Tensor values = matrix(T, F, features);
  values.reshape(Shape{1, T, 1, F});
  FixedFeatures map(values);
  return measure_features({.features = &map}, {.q = zeros({1, T, 1, 2}), .k = zeros({1, T, 1, 2})},
                          T);
}

/// A map of one's own may give anything.
TEST(HeadFeatures, OfAnotherShapeAreRefused) {
  const Tensor x = zeros({1, 3, 2, 4});
  const auto error_of = [&](const Shape& shape) -> std::string {
    FixedFeatures map(zeros(shape));
    try {
      head_features(map, x, x);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of({1, 3, 2, 5}), "");
  const std::string what = "[features] must be (B, T, H, F), F > 0: ", of = " of (1, 3, 2, 4)";
  EXPECT_EQ(error_of({1, 2, 2, 5}), what + "(1, 2, 2, 5)" + of);
  EXPECT_EQ(error_of({1, 3, 10}), what + "(1, 3, 10)" + of);
  EXPECT_EQ(error_of({1, 3, 2, 0}), what + "(1, 3, 2, 0)" + of);
  EXPECT_EQ(error_of({1, 2, 3, 4}), what + "(1, 2, 3, 4)" + of);
}

TEST(KernelStudy, RefusesFeaturesThatAreNoNumbers) {
  const FeatureMaps others = feature_maps();
  feature_maps().add("broken", [](const FeatureSpec&) {
    return std::make_unique<FixedFeatures>(
        filled({1, 5, 1, 4}, std::numeric_limits<real>::quiet_NaN()));
  });
  FeatureSpec spec;
  spec.kind = "broken";
  try {
    study_estimator(spec, false, normal_sample(5, 2, 1), {.m = {4}, .seeds = 1, .pairs = 2});
    ADD_FAILURE() << "no kernel is known";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "[features] contain NaN, so their kernel is undefined");
  }
  feature_maps() = others;
}

TEST(KernelMetrics, CountFeaturesThatPointDifferentWays) {
  EXPECT_NEAR(metrics_of({1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}, 3, 4).effective_features, 1, 1e-5);
  EXPECT_NEAR(metrics_of({1, 0, 0, 0, 5, 0, 0, 0, 9}, 3, 3).effective_features, 3, 1e-5);
}

TEST(KernelMetrics, OfFeaturesThatVanishCanBeRead) {
  KernelMetrics metrics = metrics_of({0, 0, 0, 0, 0, 0}, 3, 2);
  EXPECT_EQ(metrics.effective_features, 0);
  EXPECT_EQ(metrics.error, 0);
  metrics.layer = "mixer";
  metrics.drift = std::numeric_limits<double>::infinity();
  const Json line = Json{{"step", 1}}.set("kernels", json_of({metrics}));
  const MetricsLog log = read_metrics(line.line() + "\n", "metrics");
  EXPECT_EQ(log.kernels.at("effective_features").at("mixer").y, std::vector<double>{0});
  EXPECT_FALSE(log.kernels.contains("drift")) << "null is a missing number";
}

TEST(KernelMetrics, ErrorIsThatOfAMeanOfTerms) {
  EXPECT_NEAR(metrics_of({1, 1, 1, 1}, 1, 4).error, 0, 1e-6) << "all terms equal";
  // Terms 4, 0: sum 4, variance of the sum 2/1 (16 - 16/2) = 16: as large as the sum.
  EXPECT_NEAR(metrics_of({2, 0}, 1, 2).error, 1, 1e-5);
}

TEST(KernelMetrics, ErrorOfPositiveFeaturesIsThatOfTheClosedForm) {
  constexpr std::size_t d = 4, m = 4096;
  FeatureSpec spec;
  spec.dim = d;
  spec.m = m;
  spec.density = {.draws = "iid", .m = m, .dim = d, .log_scale = 0};
  const auto map = feature_maps().make("positive", spec);
  Tensor x = filled({1, 1, 1, d}, real(0.5));
  const KernelMetrics metrics = measure_features({.features = map.get()}, {.q = x, .k = x}, 1);
  const double squared_sum = 4 * d * 0.25 / std::sqrt(double(d));  // |y + y|^2, y = x / d^(1/4)
  const double expected = std::sqrt(std::expm1(squared_sum) / m);
  EXPECT_NEAR(metrics.error, expected, 0.25 * expected);
}

TEST(KernelMetrics, DriftIsTheRelativeMove) {
  EXPECT_NEAR(spectral_drift(matrix(1, 2, {3.3f, 4.4f}), matrix(1, 2, {3, 4})), 0.1, 1e-6);
  DensitySpec spec{.heads = 2, .m = 8, .dim = 4};
  const auto density = make_density(spec);
  const Tensor start = frequencies_of(*density);
  for (const NamedParameter& named : parameters_of(*density))
    if (named.name == "log_scale") named.parameter->value() += real(std::log(1.5));
  EXPECT_NEAR(spectral_drift(frequencies_of(*density), start), 0.5, 1e-5);
}

TEST(AttentionLayers, AreFoundWithTheirParts) {
  LanguageModelSpec spec;
  spec.blocks = 2;
  spec.block.width = 8;
  spec.block.mixer.kind = "linear";
  spec.block.mixer.heads = 2;
  LanguageModel model(spec);
  const auto layers = attention_layers(model);
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[1].name, "blocks.1.mixer");
  EXPECT_TRUE(layers[0].mixer && layers[0].features && layers[0].density);
  EXPECT_NE(layers[0].features, layers[1].features);
  spec.block.mixer.kind = "softmax";
  LanguageModel exact(spec);
  EXPECT_EQ(attention_layers(exact).front().features, nullptr);
  spec.block.mixer.kind = "linear";
  spec.block.mixer.features.kind = "elu";
  spec.block.mixer.time_kernel.kind = "spectral";
  LanguageModel without_density(spec);
  EXPECT_EQ(attention_layers(without_density).front().density, nullptr) << "that is one of time";
}

TEST(AttentionMaps, HaveRowsThatSumToOneAndDoNotSeeTheFuture) {
  AttentionSample sample;
  sample.q = zeros({1, 3, 2, 1});
  Tensor weights = matrix(3, 3, {1, 9, 9, 1, 3, 9, 1, 1, 2});
  weights = normalized_rows(weights * time_weights(sample, 0, 3));
  expect_near({weights.begin(), weights.end()}, {1, 0, 0, .25, .75, 0, .25, .25, .5});
  expect_near(weight_by_lag(weights), {(1 + .75 + .5) / 3, .25, .25});
  EXPECT_NEAR(total_variation(matrix(1, 2, {1, 0}), matrix(1, 2, {0, 1})), 1, 1e-9);
}

TEST(AttentionMaps, WeighByAllTimeKernels) {
  AttentionSample sample;
  sample.q = zeros({1, 3, 2, 1});
  sample.rate = Tensor{real(std::log(2)), real(std::log(3))};
  const auto weights = [&](std::size_t head) {
    const Tensor all = time_weights(sample, head, 3);
    return std::vector<double>{double(all(2, 0)), double(all(2, 1)), double(all(2, 2)),
                               double(all(0, 2))};
  };
  expect_near(weights(0), {1 / 4., 1 / 2., 1, 0});
  expect_near(weights(1), {1 / 9., 1 / 3., 1, 0});
  sample.modulation = zeros({1, 3, 2, 2});  // (1, 1/2), (1, -1/2), (1, 1/2) of head 1
  for (std::size_t t = 0; t < 3; ++t)
    sample.modulation(0, t, 1, 0) = 1, sample.modulation(0, t, 1, 1) = real(t % 2 ? -0.5 : 0.5);
  expect_near(weights(1), {1.25 / 9, 0.75 / 3, 1.25, 0});
  sample.modulation = Tensor();
  sample.rate = zeros({1, 3, 2});  // gates: what is lost at each token
  sample.rate(0, 1, 1) = real(std::log(2)), sample.rate(0, 2, 1) = real(std::log(5));
  expect_near(weights(1), {1 / 10., 1 / 5., 1, 0});
  sample.causal = false;
  sample.rate = Tensor();
  expect_near(weights(0), {1, 1, 1, 1});
}

TEST(Definiteness, IsThatOfTheEigenvalues) {
  const Definiteness definite = definiteness_of(matrix(3, 3, {2, -1, 0, -1, 2, -1, 0, -1, 2}));
  EXPECT_NEAR(definite.smallest, (2 - std::sqrt(2)) / (2 + std::sqrt(2)), 1e-6);
  const Definiteness indefinite = definiteness_of(matrix(2, 2, {0, 1, 1, 0}));
  EXPECT_NEAR(indefinite.smallest, -1, 1e-9);
  EXPECT_EQ(indefinite.asymmetry, 0);
  EXPECT_GT(definiteness_of(matrix(2, 2, {1, .5, 0, 1})).asymmetry, 0.1);
  EXPECT_THROW(definiteness_of(zeros({2, 3})), std::invalid_argument);
}

TEST(Spectrum, CurvesAreThoseOfTheDensity) {
  DensitySpec spec{.draws = "iid", .m = 2048, .dim = 2, .log_scale = 0};
  const auto density = make_density(spec);
  const Tensor w = frequencies_of(*density);
  const std::vector<double> samples(w.begin(), w.end());
  const Curve smoothed = smoothed_density(samples, places(-4, 4, 9), 0.02);
  for (std::size_t i = 0; i < smoothed.x.size(); ++i)
    EXPECT_NEAR(smoothed.y[i], std::exp(-smoothed.x[i] * smoothed.x[i] / 2) / 2.5066, 0.03);
  const Curve exact = kernel_curve(*density, w, 0, 3), estimated = kernel_of_draws(w, 0, 3);
  for (std::size_t i = 0; i < exact.x.size(); i += 20) {
    EXPECT_NEAR(exact.y[i], std::exp(-exact.x[i] * exact.x[i] / 2), 1e-5);
    EXPECT_NEAR(estimated.y[i], exact.y[i], 0.06);
  }
  EXPECT_NEAR(bandwidth(w), 1, 0.05);
}

/// Eight draws say little of a density: its closed form has the known height.
TEST(Spectrum, HasTheHeightOfTheDensityWhateverTheDraws) {
  constexpr double sigma = 0.5, root_two = 1.41421356, root_two_pi = 2.50662827, pi = 3.14159265;
  const std::vector<std::pair<std::string, double>> heights{{"gaussian", 1 / (root_two_pi * sigma)},
                                                            {"flow", 1 / (root_two_pi * sigma)},
                                                            {"laplace", 1 / (root_two * sigma)},
                                                            {"cauchy", 1 / (pi * sigma)}};
  for (const auto& [kind, height] : heights) {
    const auto density =
        make_density({.kind = kind, .m = 8, .dim = 2, .log_scale = std::log(sigma)});
    const Tensor w = frequencies_of(*density);
    const Spectrum spectrum = spectrum_of(*density, w, 0, 2);
    EXPECT_EQ(spectrum.title(), "spectrum p(ω)") << kind;
    EXPECT_NEAR(std::ranges::max(spectrum.density.y), height, 1e-5) << kind;
    for (const double draw : spectrum.draws) EXPECT_LE(std::fabs(draw), 2);
    EXPECT_EQ(spectrum.draws.size(),
              std::size_t(std::ranges::count_if(w, [](real x) { return std::fabs(x) <= 2; })));
  }
}

TEST(Spectrum, IsCalledTheDrawsWithoutAClosedForm) {
  for (const char* kind : {"free", "radial"}) {
    const auto density = make_density({.kind = kind, .m = 8, .dim = 2, .log_scale = 0});
    const Spectrum spectrum = spectrum_of(*density, frequencies_of(*density), 0, 3);
    EXPECT_FALSE(spectrum.closed_form) << kind;
    EXPECT_EQ(spectrum.title(), "smoothed draws of ω");
    EXPECT_EQ(spectrum.key(), "smoothed_draws");
  }
}

TEST(ConfidenceInterval, IsStudents) {
  const Interval interval = confidence_interval({1, 2, 3});
  EXPECT_NEAR(interval.mean, 2, 1e-12);
  EXPECT_NEAR(interval.half_width, 4.303 / std::sqrt(3.0), 1e-3);
  EXPECT_EQ(confidence_interval({5}).half_width, 0);
  std::vector<double> many(22);
  std::iota(many.begin(), many.end(), 0);
  EXPECT_NEAR(confidence_interval(many).half_width, 2.080 * std::sqrt(22 * 23 / 12.0 / 22), 2e-3);
}

TEST(Bootstrap, CoversWhatItEstimates) {
  // Of exponential numbers, whose mean is 1 and whose median is ln 2.
  std::size_t covered = 0;
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    std::vector<double> numbers;
    for (std::size_t i = 0; i < 40; ++i)
      numbers.push_back(-std::log(RandomFunction{trial, Purpose::test, 0}.uniform(i)));
    const Resampled bounds = bootstrap(40, [&](const std::vector<std::size_t>& rows) {
      double sum = 0;
      for (const std::size_t row : rows) sum += numbers[row];
      return sum / 40;
    });
    EXPECT_NEAR(bounds.value, mean_of(numbers), 1e-12);
    covered += bounds.low < 1 && 1 < bounds.high;
  }
  EXPECT_GE(covered, 172u);  // of 190, less 5 sigma
  EXPECT_LT(covered, 200u);
}

TEST(Reduction, IsOfMeansAndOfPairs) {
  const Resampled half = reduction({1, 2, 3, 100}, {0.5, 1, 1.5, 50});
  EXPECT_EQ(half.value, 0.5);
  EXPECT_NEAR(half.low, 0.5, 1e-12);  // pairs are resampled, not sides
  EXPECT_NEAR(half.high, 0.5, 1e-12);
  const Resampled none = reduction({1, 3, 1, 3, 1, 3}, {3, 1, 3, 1, 3, 1});
  EXPECT_EQ(none.value, 0);
  EXPECT_LT(none.low, 0);
  EXPECT_GT(none.high, 0);
}

TEST(ClusterExperiment, CountsBothEnds) {
  ClusterResult result;
  result.published = {1, 2};
  const auto counts = [&](double low, double high) {
    result.turned = {low, high};
    const ClusterCounts all = count_holding({result, result}, &ClusterResult::turned);
    return std::vector<std::size_t>{all.upper, all.lower, all.both};
  };
  EXPECT_EQ(counts(0.5, 1.5), (std::vector<std::size_t>{2, 2, 2}));
  EXPECT_EQ(counts(1.5, 1.9), (std::vector<std::size_t>{2, 0, 0}));
  EXPECT_EQ(counts(0.5, 3), (std::vector<std::size_t>{0, 2, 0}));
}

TEST(ClusterExperiment, HybridFeaturesAreBestAndThreadsDoNotMatter) {
  const auto run = [](std::size_t threads) {
    set_thread_count(threads);
    const auto results = cluster_experiment({.seeds = 2, .points = 600});
    set_thread_count(0);
    return results;
  };
  const auto results = run(1), again = run(3);
  ASSERT_EQ(results.size(), 24u);
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(results[i].turned.high, again[i].turned.high);
    EXPECT_EQ(results[i].repeated.high, again[i].repeated.high);
  }
  for (std::size_t setting = 0; setting < 4; ++setting)
    for (std::size_t i = 0; i < 2; ++i) {
      const ErrorRange& hybrid = results[6 * setting + i].repeated;
      EXPECT_LT(hybrid.high, results[6 * setting + 2 + i].repeated.high) << "positive";
      EXPECT_GT(hybrid.low, 0);
    }
}

}  // namespace kernel_study_test
}  // namespace bochner
