#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/layers/probability/distributions.hpp>
#include <bochner/layers/probability/normal_rows.hpp>
#include <cmath>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace normal_rows_test {

using namespace layer_check;

struct Rows {
  Parameter mean{random_tensor({3, 2}, 1)}, log_variance{random_tensor({3, 2}, 2)};
  NormalRows on(Tape& tape) { return {tape(mean), tape(log_variance)}; }
  std::vector<NamedParameter> parameters() {
    return {{"mean", &mean}, {"log_variance", &log_variance}};
  }
  NormalDistribution at(std::size_t i) const {
    return {double(mean.value().data()[i]), std::exp(double(log_variance.value().data()[i]) / 2)};
  }
};

TEST(NormalRows, DivergeAsInClosedForm) {
  Rows rows;
  Tape tape;
  const Tensor each = kl_divergence(rows.on(tape)).value();
  for (std::size_t i = 0; i < each.size(); ++i)
    EXPECT_NEAR(double(each.data()[i]), kl_divergence(rows.at(i), NormalDistribution()),
                is_double ? 1e-10 : 1e-5);
}

TEST(NormalRows, HaveTheDensityOfTheirDimensions) {
  Rows rows;
  const Tensor z = random_tensor({4, 3, 2}, 3);
  Tape tape;
  const Tensor all = log_density(rows.on(tape), z).value();
  EXPECT_EQ(to_string(all.shape()), "(4, 3)");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t row = i % 3;
    const double expected = rows.at(2 * row).log_density(double(z.data()[2 * i])) +
                            rows.at(2 * row + 1).log_density(double(z.data()[2 * i + 1]));
    EXPECT_NEAR(double(all.data()[i]), expected, is_double ? 1e-10 : 1e-4);
  }
}

TEST(NormalRows, AreDifferentiable) {
  if (!is_double) return;
  Rows rows;
  const Tensor noise = random_tensor({4, 3, 2}, 3);
  const GradientReport report = check_gradient(
      [&](Tape& tape) {
        const NormalRows q = rows.on(tape);
        return sum(square(points(q, noise))) + sum(kl_divergence(q)) + sum(log_density(q, noise));
      },
      rows.parameters());
  EXPECT_TRUE(report.passed) << report.summary();
}

/// Of each parameter's gradients over many draws: mean, and variance of one.
struct Moments {
  std::vector<double> mean, variance;
};
template <class Loss>
Moments gradients_of(const Loss& loss, std::size_t repeats) {
  Moments moments{std::vector<double>(12), std::vector<double>(12)};
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    Rows rows;
    Tape tape;
    tape.backward(loss(rows.on(tape), random_tensor({4, 3, 2}, 10 + repeat)));
    std::size_t i = 0;
    for (const NamedParameter& named : rows.parameters())
      for (const real g : named.parameter->gradient()) {
        moments.mean[i] += double(g) / double(repeats);
        moments.variance[i++] += double(g) * double(g) / double(repeats);
      }
  }
  for (std::size_t i = 0; i < 12; ++i) moments.variance[i] -= moments.mean[i] * moments.mean[i];
  return moments;
}

/// What a draw is worth; (K, B, d) -> (K, B)
Var reward(const Var& z) { return sum(sin(z * 2) + square(z), -1); }

/// Both estimate the same gradient; the score function needs many more draws for it.
TEST(NormalRows, GradientsThroughDrawsAndByScoresAgree) {
  constexpr std::size_t repeats = 4000;
  const Moments through = gradients_of(
      [](const NormalRows& q, const Tensor& noise) { return mean(reward(points(q, noise))); },
      repeats);
  const Moments scores = gradients_of(
      [](const NormalRows& q, const Tensor& noise) {
        const Tensor z = points(q, noise).value();
        return score_term(log_density(q, z), reward(Var(z)).value());
      },
      repeats);
  double ratio = 0;
  for (std::size_t i = 0; i < 12; ++i) {
    const double error = std::sqrt((through.variance[i] + scores.variance[i]) / double(repeats));
    EXPECT_NEAR(through.mean[i], scores.mean[i], 5 * error) << "element " << i;
    EXPECT_GT(std::abs(through.mean[i]), 0);
    ratio += scores.variance[i] / through.variance[i] / 12;
  }
  RecordProperty("variance_ratio", std::to_string(ratio));
  std::printf("variance of the score function over that of reparameterised draws: %.2f\n", ratio);
  EXPECT_GT(ratio, 1.5);
}

TEST(NormalRows, AScoreTermIsNothingButAGradient) {
  Rows rows;
  Tape tape;
  const NormalRows q = rows.on(tape);
  const Tensor z = random_tensor({2, 3, 2}, 3);
  EXPECT_EQ(score_term(log_density(q, z), random_tensor({2, 3}, 4)).value()(), real(0));
  EXPECT_THROW(score_term(log_density(q, random_tensor({1, 3, 2}, 3)), random_tensor({1, 3}, 4)),
               std::invalid_argument);
}

/// What all draws of a row share changes no gradient.
TEST(NormalRows, AScoreTermHasABaseline) {
  const Tensor z = random_tensor({3, 3, 2}, 3), rewards = random_tensor({3, 3}, 4);
  Tensor more = rewards;
  for (std::size_t i = 0; i < more.size(); ++i) more.data()[i] += real(8 * (i % 3));
  const auto gradient = [&](const Tensor& of) {
    Rows rows;
    Tape tape;
    tape.backward(score_term(log_density(rows.on(tape), z), of));
    return rows.mean.gradient();
  };
  op_check::expect_near(gradient(more), gradient(rewards), is_double ? 1e-12 : 1e-4);
}

}  // namespace normal_rows_test
}  // namespace bochner::inline BOCHNER_PRECISION
