#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/models/series_model.hpp>
#include <cmath>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace series_model_test {

using namespace layer_check;

const float nan = std::nanf("");

SeriesModelSpec tiny(const std::string& mixer, const std::string& pooling) {
  SeriesModelSpec spec;
  spec.pooling = pooling, spec.patch = {.length = 3, .stride = 2};
  spec.channels = 2, spec.length = 9, spec.outputs = 3;
  spec.stack.blocks = 2;
  spec.stack.block.width = 8, spec.stack.block.expansion = 2;
  spec.stack.block.mixer.kind = mixer;
  spec.stack.block.mixer.heads = 2, spec.stack.block.mixer.chunk = 4;
  spec.stack.block.mixer.features.m = 5;
  return spec;
}

/// Series of two channels and 9, 4 and 2 rows, with missing values.
const std::vector<std::vector<float>> batch = {
    {1, 2, nan, 4, 3, 2, 5, 1, 0, 0, 1, 0, nan, 1, 0, 2, 1, 1},
    {nan, 2, 1, 0, 3, 3, nan, 1},
    {1, -1, nan, nan}};

/// Returns outputs, and the gradients of the sum of their squares.
std::vector<Tensor> pass(SeriesModel& model, const std::vector<std::vector<float>>& series) {
  for (const NamedParameter& named : parameters_of(model)) named.parameter->zero_gradient();
  Tape tape;
  const Var y = model.forward(tape, model.tokens(series));
  std::vector<Tensor> all = {y.value()};
  tape.backward(sum(y * y));
  for (const NamedParameter& named : parameters_of(model))
    all.push_back(named.parameter->has_gradient() ? named.parameter->gradient()
                                                  : zeros(named.parameter->shape()));
  return all;
}

/// A batch of series of different lengths equals each series alone, also in gradients.
TEST(SeriesModel, OfABatchEqualsEachSeriesAlone) {
  for (const char* mixer : {"softmax", "linear", "hyena", "ssm"}) {
    for (const char* pooling : {"mean", "cls"}) {
      SCOPED_TRACE(std::string(mixer) + ", " + pooling);
      SeriesModel model(tiny(mixer, pooling));
      randomize(model, 0.4);
      const std::vector<Tensor> together = pass(model, batch);
      std::vector<Tensor> gradients;
      for (std::size_t i = 0; i < batch.size(); ++i) {
        const std::vector<Tensor> alone = pass(model, {batch[i]});
        for (std::size_t k = 0; k < 3; ++k)
          EXPECT_NEAR(alone[0](0, k), together[0](i, k), 1e-5 * (1 + std::abs(alone[0](0, k))));
        for (std::size_t p = 1; p < alone.size(); ++p)
          if (i == 0)
            gradients.push_back(alone[p]);
          else
            gradients[p - 1] += alone[p];
      }
      for (std::size_t p = 0; p < gradients.size(); ++p) {
        const double size = double(xt::amax(xt::abs(gradients[p]))());
        EXPECT_LT(double(xt::amax(xt::abs(gradients[p] - together[p + 1]))()), 1e-4 * (1 + size));
      }
    }
  }
}

TEST(SeriesModel, IsDifferentiableThroughAllItsParameters) {
  for (const char* pooling : {"mean", "cls"}) {
    SeriesModel model(tiny("softmax", pooling));
    randomize(model, 0.4);
    check_layer(model, random_tensor({1}, 1), [&](Tape& tape, const Var&) {
      const Var y = model.forward(tape, model.tokens(batch));
      return sum(y * y);
    });
  }
}

/// Without blocks the output is the mean over the tokens that have values, as if there were no
/// others.
TEST(SeriesModel, LeavesTokensWithoutValuesOutOfTheMean) {
  SeriesModelSpec spec = tiny("softmax", "mean");
  spec.stack.blocks = 0, spec.stack.positions = "none";
  spec.patch = {.length = 1, .stride = 1};
  SeriesModel model(spec);
  randomize(model, 0.4);
  Tape tape({.recording = false});
  const Tensor y =
      model.forward(tape, model.tokens({{1, nan, 2, 3, nan, 4}, {1, 2, 3, 4}, {nan, nan}})).value();
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(y(0, k), y(1, k), 1e-6);
    EXPECT_TRUE(std::isfinite(y(2, k)));
  }
}

TEST(SeriesModel, ShowsValuesAndWhichAreMissing) {
  SeriesModelSpec spec = tiny("softmax", "mean");
  spec.channels = 1;
  const SeriesTokens tokens = SeriesModel(spec).tokens({{5, nan, 7, 8}});
  EXPECT_EQ(tokens.lengths, std::vector<std::size_t>{2});
  const real expected[] = {5, 0, 0, 1, 7, 0, 7, 0, 8, 0, 0, 1};
  ASSERT_EQ(tokens.values.size(), std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i)
    EXPECT_EQ(tokens.values.data()[i], expected[i]) << i;
}

TEST(SeriesModel, StandardizesByChannelOrSeries) {
  const std::vector<float> a = {1, 3, 10, nan}, b = {5, 7, 30, 50};
  SeriesModelSpec spec = tiny("softmax", "mean");
  SeriesModel by_channel(spec);
  by_channel.fit({a, b});
  EXPECT_NEAR(by_channel.standardized(a)[0], -3 / std::sqrt(5.0), 1e-6);
  EXPECT_NEAR(by_channel.standardized(a)[2], -20 / std::sqrt(800 / 3.0), 1e-6);
  EXPECT_TRUE(std::isnan(by_channel.standardized(a)[3]));
  spec.standardize = "series";
  SeriesModel by_series(spec);
  by_series.fit({a, b});
  EXPECT_NEAR(by_series.standardized(b)[0], -1, 1e-6);
  EXPECT_EQ(by_series.standardized(a)[2], 0);
}

}  // namespace series_model_test
}  // namespace bochner::inline BOCHNER_PRECISION
