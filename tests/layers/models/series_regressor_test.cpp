#include <bochner/layers/models/series_regressor.hpp>
#include <cmath>
#include <numbers>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace series_regressor_test {

using namespace layer_check;

SeriesRegressorSpec tiny(const std::string& loss) {
  SeriesRegressorSpec spec;
  spec.loss.kind = loss, spec.quantiles = {0.2, 0.5, 0.9};
  spec.length = 3, spec.stack.blocks = 0, spec.stack.block.width = 4;
  spec.patch = {.length = 1, .stride = 1};
  return spec;
}

/// A regressor of numbers with mean 10 and deviation 2.
SeriesRegressor fitted(const std::string& loss) {
  const std::vector<float> series = {1, 2};
  SeriesRegressor model(tiny(loss));
  model.fit({series, series}, {8, 12});
  return model;
}

Tensor rows(std::size_t n, const std::vector<double>& values) {
  Tensor outputs = zeros({n, values.size() / n});
  std::ranges::copy(values, outputs.data());
  return outputs;
}

double loss_of(const SeriesRegressor& model, const Tensor& outputs,
               const std::vector<double>& numbers) {
  return double(model.loss(Var(outputs), numbers).value()());
}

TEST(SeriesRegressor, HasLossesInUnitsOfTraining) {
  const std::vector<double> numbers = {14, 9};  // 2 and -0.5 in units
  const Tensor outputs = rows(2, {1, 0});
  EXPECT_NEAR(loss_of(fitted("mse"), outputs, numbers), (1 + 0.25) / 2, 1e-6);
  EXPECT_NEAR(loss_of(fitted("mae"), outputs, numbers), (1 + 0.5) / 2, 1e-6);
  EXPECT_NEAR(loss_of(fitted("huber"), outputs, numbers), (0.5 + 0.125) / 2, 1e-6);
}

TEST(SeriesRegressor, LearnsMeanAndDeviation) {
  const double raw = std::log(std::exp(0.499) - 1);  // deviation 0.5
  const Tensor outputs = rows(1, {1, raw});
  const SeriesRegressor model = fitted("gaussian");
  EXPECT_NEAR(loss_of(model, outputs, {14}),
              2 + std::log(0.5) + 0.5 * std::log(2 * std::numbers::pi), 1e-5);
  const NumberAnswers answers = model.answers(outputs);
  EXPECT_NEAR(answers.expected[0], 12, 1e-6);
  ASSERT_EQ(answers.quantiles.size(), 4u);
  EXPECT_NEAR(answers.quantiles[3], 12 + 1.959964, 1e-4);
  EXPECT_NEAR(answers.quantiles[1], 12 - 1.281552, 1e-4);
}

/// An interval of probability p reaches the error of rank (n + 1) p among held-out ones.
TEST(SeriesRegressor, HasConformalQuantiles) {
  SeriesRegressor model = fitted("mse");
  EXPECT_TRUE(model.answers(zeros({1, 1})).quantiles.empty());
  std::vector<double> numbers;
  for (int i = 1; i <= 39; ++i) numbers.push_back(10 + i);  // errors 1, ..., 39
  model.fit_errors(zeros({39, 1}), numbers);
  const std::vector<double> quantiles = model.answers(rows(1, {1})).quantiles;
  ASSERT_EQ(quantiles.size(), 4u);
  EXPECT_EQ(model.held_out(), 39u);
  EXPECT_EQ(model.fewest_held_out(), 19u);
  const double reach[] = {-38, -32, 32, 38};
  for (std::size_t p = 0; p < 4; ++p) EXPECT_NEAR(quantiles[p], 12 + reach[p], 1e-5);
}

TEST(SeriesRegressor, MovesLearnedQuantilesByHeldOutErrors) {
  SeriesRegressor model = fitted("quantile");
  const double one = std::log(std::exp(1.0) - 1);  // a distance of 1
  const Tensor outputs = rows(1, {one, 0, one});
  EXPECT_NEAR(loss_of(model, outputs, {14}), (0.2 * 3 + 0.5 * 2 + 0.9 * 1) / 3, 1e-5);
  const std::vector<double> before = model.answers(outputs).quantiles;
  for (std::size_t p = 0; p < 3; ++p) EXPECT_NEAR(before[p], 8 + 2 * double(p), 1e-5);
  model.fit_errors(rows(2, {one, 0, one, one, 0, one}), {9, 9});
  EXPECT_EQ(model.fewest_held_out(), 9u) << "of the level 0.9";
  const NumberAnswers after = model.answers(outputs);
  for (const double quantile : after.quantiles) EXPECT_NEAR(quantile, 9, 1e-5);
  EXPECT_NEAR(after.expected[0], 9, 1e-5);
}

TEST(SeriesRegressor, IsDifferentiable) {
  const std::vector<std::vector<float>> series = {{1, 2, 4}, {0, 1}};
  for (const char* loss : {"gaussian", "quantile", "mse"}) {
    SeriesRegressor model(tiny(loss));
    model.fit({series[0], series[1]}, {8, 12});
    randomize(model, 0.4);
    check_layer(model, random_tensor({1}, 1), [&](Tape& tape, const Var&) {
      return model.loss(model.series().forward(tape, model.series().tokens(series)), {9, 14});
    });
  }
}

}  // namespace series_regressor_test
}  // namespace bochner::inline BOCHNER_PRECISION
