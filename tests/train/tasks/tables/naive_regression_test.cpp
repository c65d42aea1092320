#include <gtest/gtest.h>

#include <bochner/train/tasks/tables/naive_regression.hpp>
#include <cmath>

namespace bochner {
namespace naive_regression_test {

/// With one input, the slope is the sum of products over the sum of squares plus the penalty.
TEST(NaiveRegressions, AreTheMeanAndRidgeInClosedForm) {
  const Observations training{{{1, 2, 6}}, {4, 1, 1}}, held{{{5, 0}}, {3, -1}};
  const double slope = (-2 * 2 - 1 * -1 + 3 * -1) / (4 + 1 + 9 + 1.);  // centred at 3 and 2
  const std::vector<Score> scores = naive_regressions(training, held);
  EXPECT_EQ(scores[0].name, "mean");
  EXPECT_DOUBLE_EQ(scores[0].value, std::sqrt((1 + 9) / 2.));
  const double first = 3 - (2 + slope * 2), second = -1 - (2 - slope * 3);
  EXPECT_EQ(scores[1].name, "ridge");
  EXPECT_NEAR(scores[1].value, std::sqrt((first * first + second * second) / 2), 1e-12);
}

/// Inputs that repeat each other have a solution, with equal weights.
TEST(NaiveRegressions, TakeEqualInputs) {
  const Observations rows{{{1, 2, 3, 4}, {1, 2, 3, 4}}, {1, 2, 3, 4}};
  const double weight = 5 / (2 * 5 + 1.);  // each, of the sum of squares 5
  const double rest = 1 - 2 * weight;
  EXPECT_NEAR(naive_regressions(rows, rows)[1].value, rest * std::sqrt(5 / 4.), 1e-12);
}

}  // namespace naive_regression_test
}  // namespace bochner
