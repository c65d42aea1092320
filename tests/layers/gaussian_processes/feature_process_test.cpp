#include <gtest/gtest.h>

#include <bochner/base/numeric/special_functions.hpp>
#include <cmath>

#include "layers/gaussian_processes/process_rows.hpp"
#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace feature_process_test {

using namespace process_rows;

GaussianProcessSpec spec_of(const std::string& method, std::size_t inputs, std::size_t m) {
  GaussianProcessSpec spec{.inputs = inputs, .method = method, .noise = 0.2};
  spec.density.m = m;
  return spec;
}

/// Known noise (a large shape of its prior) and many frequencies.
TEST(FeatureProcess, ApproachesTheExactOne) {
  for (const std::size_t inputs : {1, 2}) {
    const Rows rows = rows_of(60, inputs, 0.2, 1);
    GaussianProcessSpec spec = spec_of("features", inputs, 1024);
    spec.noise_shape = 1e6;
    const auto features = process_of(spec, rows);
    const auto exact = process_of(spec_of("exact", inputs, 1), rows);
    EXPECT_NEAR(likelihood_of(*features, rows), likelihood_of(*exact, rows), 4) << inputs;
    const auto said = features->condition(rows.view())->predict(rows.inputs);
    const auto true_said = exact->condition(rows.view())->predict(rows.inputs);
    for (std::size_t i = 0; i < 60; i += 7) {
      EXPECT_NEAR(said.mean[i], true_said.mean[i], 0.05);
      EXPECT_NEAR(said.deviation(i), true_said.deviation(i), 0.05);
    }
  }
}

TEST(FeatureProcess, GradientsAreDifferences) {
  if (!layer_check::is_double) return;  // float differences are dominated by rounding
  for (const char* density : {"gaussian", "mixture", "student_t", "flow"}) {
    for (const char* combine : {"product", "both"}) {
      const Rows rows = rows_of(80, 2, 0.2, 1);
      GaussianProcessSpec spec = spec_of("features", 2, 6);
      spec.density.kind = density;
      spec.combine = combine;
      const auto process = process_of(spec, rows);
      GradientOptions options;
      options.floor = 0.1;  // rounding of a likelihood around 100
      const GradientReport report =
          check_gradient([&](Tape& tape) { return process->log_likelihood(tape, rows.view()); },
                         parameters_of(*process), options);
      EXPECT_TRUE(report.passed) << density << " " << combine << ": " << report.summary();
    }
  }
}

TEST(FeatureProcess, PredictsQuantilesOfStudentsT) {
  const Rows rows = rows_of(4, 1, 0.2, 1);
  GaussianProcessSpec spec = spec_of("features", 1, 8);
  const auto said = process_of(spec, rows)->condition(rows.view())->predict({{0.5}});
  EXPECT_EQ(said.degrees, 6);  // 2 (shape 1 + rows / 2)
  EXPECT_NEAR(said.quantile(0, 0.95) - said.mean[0], 1.9431802805 * said.scale[0], 1e-8);
  EXPECT_NEAR(said.quantile(0, 0.05) - said.mean[0], -1.9431802805 * said.scale[0], 1e-8);
  EXPECT_NEAR(said.deviation(0), said.scale[0] * std::sqrt(6.0 / 4), 1e-12);
  double total = 0;
  for (double y = -60; y < 60; y += 0.01) total += 0.01 * std::exp(said.log_density(0, y));
  EXPECT_NEAR(total, 1, 1e-3);
}

TEST(StudentQuantile, IsThatOfTables) {
  EXPECT_NEAR(quantile::student(1, 0.75), 1, 1e-12);
  EXPECT_NEAR(quantile::student(10, 0.975), 2.2281388520, 1e-9);
  EXPECT_NEAR(quantile::student(10, 0.025), -2.2281388520, 1e-9);
  EXPECT_EQ(quantile::student(3, 0.5), 0);
  EXPECT_NEAR(quantile::student(1e9, 0.95), quantile::normal(0.95), 1e-12);
}

}  // namespace feature_process_test
}  // namespace bochner::inline BOCHNER_PRECISION
