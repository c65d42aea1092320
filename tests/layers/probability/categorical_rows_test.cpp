#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/probability/categorical_rows.hpp>
#include <cmath>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace categorical_rows_test {

using namespace layer_check;

/// Two rows of two variables of three categories.
struct Rows {
  Parameter logits{random_tensor({2, 2, 3}, 1)};
  CategoricalRows on(Tape& tape) { return {tape(logits)}; }
  double probability(std::size_t variable, std::size_t category) const {
    double total = 0;
    for (std::size_t k = 0; k < 3; ++k)
      total += std::exp(double(logits.value().data()[3 * variable + k]));
    return std::exp(double(logits.value().data()[3 * variable + category])) / total;
  }
};

constexpr double close = is_double ? 1e-12 : 1e-6;

TEST(CategoricalRows, DivergeFromTheUniformAsInClosedForm) {
  Rows rows;
  Tape tape;
  const Tensor each = kl_divergence(rows.on(tape)).value();
  EXPECT_EQ(to_string(each.shape()), "(2, 2)");
  for (std::size_t v = 0; v < 4; ++v) {
    double expected = 0;
    for (std::size_t k = 0; k < 3; ++k)
      expected += rows.probability(v, k) * std::log(3 * rows.probability(v, k));
    EXPECT_NEAR(double(each.data()[v]), expected, close);
  }
  rows.logits.value() = filled({2, 2, 3}, real(0.7));
  EXPECT_NEAR(double(sum(kl_divergence(rows.on(tape))).value()()), 0, close);
}

TEST(CategoricalRows, AreDrawnAsOftenAsTheyAreProbable) {
  constexpr std::size_t draws = 20000;
  Rows rows;
  Tape tape;
  const Tensor all = points(rows.on(tape), random_tensor({draws, 2, 2, 3}, 2));
  std::vector<double> shares(12);
  for (std::size_t i = 0; i < all.size(); ++i) shares[i % 12] += double(all.data()[i]) / draws;
  for (std::size_t i = 0; i < 12; ++i) {
    const double p = rows.probability(i / 3, i % 3);
    EXPECT_NEAR(shares[i], p, 4 * std::sqrt(p * (1 - p) / draws)) << i;
  }
}

TEST(CategoricalRows, RelaxedPointsTendToTheDraws) {
  Rows rows;
  Tape tape;
  const CategoricalRows q = rows.on(tape);
  const Tensor noise = random_tensor({50, 2, 2, 3}, 3), drawn = points(q, noise);
  double last = 1;
  for (const double temperature : {1.0, 0.1, 0.01}) {
    const Tensor soft = relaxed_points(q, noise, temperature).value();
    double apart = 0;
    for (std::size_t i = 0; i < soft.size(); ++i)
      apart += std::abs(double(soft.data()[i] - drawn.data()[i])) / double(soft.size());
    EXPECT_LT(apart, last / 4);
    last = apart;
  }
  EXPECT_THROW(relaxed_points(q, noise, 0), std::invalid_argument);
}

/// Hard choices forward, the gradient of the relaxed ones backward.
TEST(CategoricalRows, StraightThroughHasTheGradientOfItsArgument) {
  const Tensor noise = random_tensor({5, 2, 2, 3}, 4), weights = random_tensor({5, 2, 2, 3}, 5);
  const Rows same;
  EXPECT_EQ(straight_through(relaxed_points({Var(same.logits.value())}, noise, 0.5)).value(),
            points({Var(same.logits.value())}, noise));
  Tensor gradients[2];
  for (const bool hard : {false, true}) {
    Rows rows;
    Tape tape;
    const Var soft = relaxed_points(rows.on(tape), noise, 0.5);
    const Var c = hard ? straight_through(soft) : soft;
    tape.backward(sum(c * Var(weights)));
    gradients[hard] = rows.logits.gradient();
  }
  for (std::size_t i = 0; i < 12; ++i)
    EXPECT_NEAR(double(gradients[0].data()[i]), double(gradients[1].data()[i]), 10 * close);
}

TEST(CategoricalRows, ProbabilitiesOfAllValuesAddUp) {
  Rows rows;
  Tape tape;
  const Tensor values = all_categories(2, 3);
  EXPECT_EQ(to_string(values.shape()), "(9, 6)");
  EXPECT_EQ(values(5, 1) + values(5, 5), 2) << "1 of the first variable, 2 of the last";
  const Tensor log_q = log_probabilities(rows.on(tape), values).value();
  for (std::size_t row = 0; row < 2; ++row) {
    double total = 0;
    for (std::size_t i = 0; i < 9; ++i) total += std::exp(double(log_q(i, row)));
    EXPECT_NEAR(total, 1, close);
    EXPECT_NEAR(std::exp(double(log_q(5, row))),
                rows.probability(2 * row, 1) * rows.probability(2 * row + 1, 2), close);
  }
  EXPECT_EQ(count_categories(3, 7, 1000), 343u);
  EXPECT_EQ(count_categories(70, 2, 256), 257u);
  EXPECT_THROW(all_categories(70, 2), std::invalid_argument);
}

TEST(CategoricalRows, AreDifferentiable) {
  if (!is_double) return;
  Rows rows;
  const Tensor noise = random_tensor({4, 2, 2, 3}, 3);
  const GradientReport report = check_gradient(
      [&](Tape& tape) {
        const CategoricalRows q = rows.on(tape);
        return sum(square(relaxed_points(q, noise, 0.7))) + sum(kl_divergence(q)) +
               sum(square(log_probabilities(q, all_categories(2, 3))));
      },
      {{"logits", &rows.logits}});
  EXPECT_TRUE(report.passed) << report.summary();
}

}  // namespace categorical_rows_test
}  // namespace bochner::inline BOCHNER_PRECISION
