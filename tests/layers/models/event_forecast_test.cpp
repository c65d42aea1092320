#include <bochner/layers/models/event_model.hpp>
#include <bochner/layers/module.hpp>
#include <cmath>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace event_forecast_test {

/// A model whose intensities are constant between events: next times are exponential.
TEST(EventForecast, OfConstantIntensitiesIsKnown) {
  EventModelSpec spec;
  spec.types = 3;
  spec.length = 5;
  spec.stack.blocks = 1;
  spec.stack.positions = "none";
  spec.stack.block.width = 8;
  spec.stack.block.mixer.kind = "softmax";
  spec.stack.block.mixer.heads = 2;
  spec.intensity.delays = 0;
  EventModel model(spec);
  initialize(model, 1);
  Times times(std::vector<std::size_t>{1, 5});
  for (std::size_t i = 0; i < 5; ++i) times(0, i) = 100 + 7 * double(i);
  const Indices types{{1, 5}, {0, 1, 2, 1, 0}};
  model.scale().fit(times);
  Tape tape;
  tape.recording = false;
  const Tensor rates = model.outlook(tape, types, times).value();  // (1, 5, 3, 1), per 7
  const EventForecast forecast = forecast_events(model, types, times);
  for (std::size_t i = 0; i < 5; ++i) {
    double total = 0;
    for (std::size_t k = 0; k < 3; ++k) total += double(rates(0, i, k, 0)) / 7;
    EXPECT_NEAR((forecast.median(0, i) - times(0, i)) * total, std::log(2.0), 1e-4);
    EXPECT_NEAR((forecast.mean(0, i) - times(0, i)) * total, 1, 0.02);  // 64 quantiles
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(double(forecast.probabilities(0, i, k)), double(rates(0, i, k, 0)) / 7 / total,
                  1e-4);
  }
}

}  // namespace event_forecast_test
}  // namespace bochner::inline BOCHNER_PRECISION
