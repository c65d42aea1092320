#include <gtest/gtest.h>

#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/models/filter_bank_model.hpp>
#include <cmath>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace filter_bank_model_test {

using namespace layer_check;

FilterBankModelSpec small_spec(std::size_t classes) {
  FilterBankModelSpec spec;
  spec.groups = 1;
  spec.taps = 5;
  spec.length = 24;
  spec.classes = classes;
  return spec;
}

/// Waves whose frequency is the number, in two classes.
struct Waves {
  std::vector<std::vector<float>> rows;
  std::vector<SeriesValues> series;
  Indices labels;
  std::vector<double> numbers;

  explicit Waves(std::size_t count, std::size_t channels = 1) {
    for (std::size_t i = 0; i < count; ++i) {
      const double frequency = 0.4 + 0.6 * double(i * 7 % count) / double(count);
      rows.emplace_back();
      for (std::size_t t = 0; t < 24 * channels; ++t)
        rows.back().push_back(float(std::sin(frequency * double(t) + double(i))));
      labels.values.push_back(frequency > 0.7);
      numbers.push_back(100 + 10 * frequency);
    }
    series.assign(rows.begin(), rows.end());
    labels.shape = {count};
  }
};

TEST(FilterBankModel, HasGradientsOfItsFiltersAndHead) {
  const Waves waves(9, 2);
  for (const std::size_t classes : {2, 0}) {
    FilterBankModelSpec spec = small_spec(classes);
    spec.channels = 2;  // the weight of a single channel is fixed
    FilterBankModel model(spec);
    initialize(model, 1);
    classes > 0 ? model.fit(waves.series, waves.labels.values)
                : model.fit(waves.series, waves.numbers);
    const auto loss = [&](Tape& tape) {
      return classes > 0 ? model.loss(tape, waves.series, waves.labels)
                         : model.loss(tape, waves.series, waves.numbers);
    };
    GradientOptions options;
    if (!is_double) options.tolerance = 5e-2, options.floor = 0.2;
    const GradientReport report = check_gradient(loss, parameters_of(model), options);
    EXPECT_TRUE(report.passed) << report.summary();
  }
}

TEST(FilterBankModel, PredictsNumbersBetterThanTheirMean) {
  const Waves waves(40);
  FilterBankModel model(small_spec(0));
  initialize(model, 1);
  model.fit(waves.series, waves.numbers);
  const auto [count, mean, deviation, error] = model.numbers();
  EXPECT_EQ(count, 40);
  EXPECT_NEAR(mean, 107, 0.2);
  EXPECT_LT(error, deviation / 2);
  const Tensor predicted = model.outputs(waves.series);
  double squares = 0;
  for (std::size_t i = 0; i < 40; ++i)
    squares += std::pow(double(predicted(i, 0)) - waves.numbers[i], 2) / 40;
  EXPECT_LT(std::sqrt(squares), error);
}

}  // namespace filter_bank_model_test
}  // namespace bochner::inline BOCHNER_PRECISION
