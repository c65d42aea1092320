#include "layers/gaussian_processes/process_rows.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace process_rows_test {

using namespace process_rows;
using op_check::error_of;

GaussianProcessSpec of_two_inputs(const std::string& method) {
  GaussianProcessSpec spec{.inputs = 2};
  spec.method = method;
  spec.density.m = 8;
  return spec;
}

TEST(ProcessRows, AreRefusedBeforeAnythingReadsThem) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Rows rows = rows_of(12, 2, 0.1, 1);
  for (const char* method : {"exact", "cg", "features"}) {
    const auto process = process_of(of_two_inputs(method), rows);
    const auto posterior = process->condition(rows.view());
    const auto problem_of = [&](const std::vector<std::vector<double>>& inputs) {
      const std::string asked = error_of([&] { posterior->predict(inputs); });
      const Rows seen{inputs, std::vector<double>(inputs[0].size(), 1)};
      EXPECT_EQ(error_of([&] { likelihood_of(*process, seen); }), asked) << method;
      EXPECT_EQ(error_of([&] { process->start(seen.view()); }), asked) << method;
      return asked;
    };
    EXPECT_EQ(problem_of({{1, 2}}), "[gaussian_process] expected 2 inputs, got 1");
    EXPECT_EQ(problem_of({{1}, {2}, {3}}), "[gaussian_process] expected 2 inputs, got 3");
    EXPECT_EQ(problem_of({{1, 2}, {3}}), "[gaussian_process] columns have 2 and 1 rows");
    EXPECT_EQ(problem_of({{1, nan}, {3, 4}}), "[gaussian_process] inputs must be finite");
    EXPECT_EQ(posterior->predict({{1, 2}, {3, 4}}).mean.size(), 2u);
  }
}

TEST(ProcessRows, HaveATargetEach) {
  Rows rows = rows_of(12, 2, 0.1, 1);
  const auto process = process_of(of_two_inputs("exact"), rows);
  rows.targets[3] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(error_of([&] { likelihood_of(*process, rows); }),
            "[gaussian_process] targets must be finite");
  rows.targets.pop_back();
  EXPECT_EQ(error_of([&] { likelihood_of(*process, rows); }),
            "[gaussian_process] got 11 targets for 12 rows");
}

TEST(ProcessPrediction, HasQuantilesBetweenZeroAndOne) {
  const ProcessPrediction normal{{1}, {2}, std::numeric_limits<double>::infinity()};
  EXPECT_NEAR(normal.quantile(0, 0.5), 1, 1e-15);
  for (const double probability : {0.0, 1.0, 1.5})
    EXPECT_THROW(normal.quantile(0, probability), std::invalid_argument);
}

}  // namespace process_rows_test
}  // namespace bochner::inline BOCHNER_PRECISION
