#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/layers/estimators/estimator.hpp>
#include <cmath>
#include <functional>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace estimators_test {

using Numbers = std::vector<double>;

/// Rows with two normal inputs and an answer.
AnsweredRows rows_with(std::size_t n, std::uint64_t seed,
                       const std::function<double(double, double)>& answer) {
  Draws draws({seed});
  AnsweredRows rows{Columns(2), Columns(1)};
  for (std::size_t i = 0; i < n; ++i) {
    const double a = draws.normal(), b = draws.normal();
    rows.inputs[0].push_back(a), rows.inputs[1].push_back(b);
    rows.answers[0].push_back(answer(a, b));
  }
  return rows;
}

/// Makes classes of answers: 1 where they are positive.
AnsweredRows classed(AnsweredRows rows) {
  rows.answers.emplace_back();
  for (double& y : rows.answers[0]) {
    rows.answers[1].push_back(y > 0);
    y = y > 0 ? 0 : 1;
  }
  return rows;
}

RowEstimates estimated(const Estimator& estimator, const AnsweredRows& seen,
                       const Columns& inputs) {
  Numbers state(estimator.size());
  EXPECT_TRUE(estimator.fit(seen, state));
  return estimator.estimate(seen, state, inputs);
}

double share_right(const RowEstimates& estimates, const AnsweredRows& rows) {
  double right = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    right += (estimates.values[1][i] > 0.5) == (rows.answers[1][i] > 0.5);
  return right / double(rows.size());
}

const EstimatorSpec number{.inputs = 2}, two_classes{.inputs = 2, .classes = 2};

TEST(MeanEstimator, AnswersWithMeansOrShares) {
  const AnsweredRows rows = {{{0, 0, 0, 0}, {0, 0, 0, 0}}, {{1, 1, 1, 0}, {0, 0, 0, 1}}};
  const RowEstimates shares = estimated(*make_mean(two_classes), rows, rows.inputs);
  EXPECT_EQ(shares.values, (Columns{Numbers(4, 0.75), Numbers(4, 0.25)}));
}

TEST(TableRidge, ContinuesAPlane) {
  const auto plane = [](double a, double b) { return 3 + 2 * a - b; };
  const AnsweredRows rows = rows_with(50, 1, plane);
  const RowEstimates estimates = estimated(*make_table_ridge(number), rows, {{10, 0}, {-4, 0}});
  EXPECT_NEAR(estimates.values[0][0], 27, 1e-3);
  EXPECT_NEAR(estimates.values[0][1], 3, 1e-3);
}

TEST(TableProcess, LearnsASurfaceAndItsNoise) {
  Draws noise({7});
  const auto wave = [](double a, double b) { return std::sin(2 * a) + 0.3 * b; };
  const AnsweredRows rows =
      rows_with(150, 1, [&](double a, double b) { return wave(a, b) + 0.1 * noise.normal(); });
  const AnsweredRows more = rows_with(50, 2, wave);
  for (const char* combine : {"product", "sum"}) {
    const auto process = make_table_process(number, "gaussian", combine);
    const RowEstimates estimates = estimated(*process, rows, more.inputs);
    double squares = 0;
    for (std::size_t i = 0; i < 50; ++i)
      squares += std::pow(estimates.values[0][i] - more.answers[0][i], 2) / 50;
    EXPECT_LT(std::sqrt(squares), 0.15) << combine;
    EXPECT_NEAR(*std::ranges::min_element(estimates.deviations), 0.1, 0.03) << combine;
  }
}

TEST(TableProcess, FeaturesAreOfManyRows) {
  const auto wave = [](double a, double b) { return std::sin(2 * a) + 0.3 * b; };
  const auto process = make_table_process(number, "gaussian", "features");
  Numbers state(process->size());
  EXPECT_FALSE(process->fit(rows_with(100, 1, wave), state));
  const AnsweredRows rows = rows_with(4001, 1, wave), more = rows_with(20, 2, wave);
  const RowEstimates estimates = estimated(*process, rows, more.inputs);
  for (std::size_t i = 0; i < 20; ++i)
    EXPECT_NEAR(estimates.values[0][i], more.answers[0][i], 0.05);
}

TEST(TableProcess, RefitsTheStateOfOtherRows) {
  const AnsweredRows rows = rows_with(60, 1, [](double a, double) { return std::sin(2 * a); });
  const auto process = make_table_process(number, "gaussian", "product");
  Numbers state(process->size()), again;
  ASSERT_TRUE(process->fit(rows, state));
  again = state;
  ASSERT_TRUE(process->refit(rows, again));
  const RowEstimates first = process->estimate(rows, state, rows.inputs),
                     second = process->estimate(rows, again, rows.inputs);
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_NEAR(first.values[0][i], second.values[0][i], 0.02);
}

TEST(Logistic, SeparatesClassesByALine) {
  const auto line = [](double a, double b) { return a + b; };
  const AnsweredRows rows = classed(rows_with(120, 1, line)),
                     more = classed(rows_with(80, 2, line));
  EXPECT_GT(share_right(estimated(*make_logistic(two_classes), rows, more.inputs), more), 0.93);
}

TEST(Logistic, FeaturesSeparateClassesByACircle) {
  const auto circle = [](double a, double b) { return a * a + b * b - 1.4; };
  const AnsweredRows rows = classed(rows_with(200, 1, circle)),
                     more = classed(rows_with(100, 2, circle));
  const auto right = [&](const char* density) {
    return share_right(estimated(*make_logistic(two_classes, density), rows, more.inputs), more);
  };
  EXPECT_LT(right(""), 0.75);
  EXPECT_GT(right("gaussian"), 0.9);
  EXPECT_GT(right("cauchy"), 0.85);
}

TEST(Logistic, LearnsWhichInputsMatter) {
  const AnsweredRows rows =
      classed(rows_with(150, 1, [](double a, double) { return std::sin(3 * a); }));
  const std::vector<double> scales = class_log_scales(rows, 1);
  EXPECT_GT(scales[0], scales[1] + 1);
  const auto logistic = make_logistic(two_classes, "gaussian", true);
  EXPECT_GT(share_right(estimated(*logistic, rows, rows.inputs), rows), 0.9);
  const auto wide = make_logistic({.inputs = 65, .classes = 2}, "gaussian", true);
  std::vector<double> state(wide->size());
  EXPECT_FALSE(wide->fit({Columns(65, rows.inputs[0]), rows.answers}, state));
}

TEST(Logistic, ProbabilitiesOfNoiseAreShares) {
  Draws noise({7});
  const AnsweredRows rows =
      classed(rows_with(200, 1, [&](double, double) { return noise.normal() - 0.5; }));
  const double share = std::accumulate(rows.answers[1].begin(), rows.answers[1].end(), 0.0) / 200;
  const RowEstimates estimates =
      estimated(*make_logistic(two_classes, "gaussian"), rows, rows.inputs);
  for (const double p : estimates.values[1]) EXPECT_NEAR(p, share, 0.15);
}

}  // namespace estimators_test
}  // namespace bochner::inline BOCHNER_PRECISION
