#include <bochner/layers/models/event_model.hpp>
#include <bochner/layers/module.hpp>
#include <cmath>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace event_forecast_test {

EventModelSpec small_spec(std::size_t delays) {
  EventModelSpec spec;
  spec.types = 3;
  spec.length = 5;
  spec.stack.blocks = 1;
  spec.stack.positions = "none";
  spec.stack.block.width = 8;
  spec.stack.block.mixer.kind = "softmax";
  spec.stack.block.mixer.heads = 2;
  spec.intensity.delays = delays;
  return spec;
}

/// Constant intensities between events: next times are exponential, as in a Poisson process.
TEST(EventForecast, OfConstantIntensitiesIsKnown) {
  EventModel model(small_spec(0));
  initialize(model, 1);
  Times times(std::vector<std::size_t>{1, 5});
  for (std::size_t i = 0; i < 5; ++i) times(0, i) = 100 + 7 * double(i);
  const Indices types{{1, 5}, {0, 1, 2, 1, 0}};
  model.scale().fit(times);
  Tape tape({.recording = false});
  const Tensor rates = model.intensity_weights(tape, types, times).value();  // (1, 5, 3, 1), per 7
  const EventForecast forecast = forecast_events(model, types, times);
  for (std::size_t i = 0; i < 5; ++i) {
    double total = 0;
    for (std::size_t k = 0; k < 3; ++k) total += double(rates(0, i, k, 0)) / 7;
    EXPECT_NEAR((forecast.median(0, i) - times(0, i)) * total, std::log(2.0), 1e-4);
    EXPECT_NEAR((forecast.mean(0, i) - times(0, i)) * total, 1, 1e-5);
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(double(forecast.probabilities(0, i, k)), double(rates(0, i, k, 0)) / 7 / total,
                  1e-4);
  }
}

/// Returns the mean next time by a fine sum over survival, in model units.
double summed_mean(const Intensity& intensity, const Tensor& weights) {
  constexpr double step = 0.01;
  double mean = 0, survival = 1;
  for (double s = step / 2; survival > 1e-7; s += step) {
    const Times at(std::vector<std::size_t>{1, 1}, s);
    survival = std::exp(-double(intensity.compensator(Var(weights), at).value().data()[0]));
    mean += step * survival;
  }
  return mean;
}

/// Waves of events, then long silence: the tail dominates the mean.
TEST(EventForecast, HasTheMeanOfWavesToo) {
  EventModel model(small_spec(3));
  initialize(model, 1);
  for (const double quiet : {1.0, 0.01}) {
    Times times(std::vector<std::size_t>{1, 1}, 0.0);
    const Indices types{{1, 1}, {0}};
    for (const NamedParameter& named : parameters_of(model)) {
      Tensor& value = named.parameter->value();
      for (std::size_t i = 0; i < value.size() && named.name == "intensity.linear.bias"; ++i)
        value.data()[i] = real(i % 7 == 0 ? std::log(quiet) : 1);  // a constant and 3 delays
    }
    Tape tape({.recording = false});
    const Tensor weights = model.intensity_weights(tape, types, times).value();
    const double mean = forecast_events(model, types, times).mean(0, 0);
    EXPECT_NEAR(mean / summed_mean(model.intensity(), weights), 1, 1e-4) << quiet;
  }
}

/// Far beyond the training gaps.
TEST(EventForecast, OfARateThatIsNearlyNothingIsKnown) {
  EventModel model(small_spec(0));
  initialize(model, 1);
  for (const NamedParameter& named : parameters_of(model))
    if (named.name == "intensity.linear.bias") named.parameter->value().fill(-20);
  const Times times(std::vector<std::size_t>{1, 1}, 0.0);
  const Indices types{{1, 1}, {0}};
  Tape tape({.recording = false});
  const Tensor rates = model.intensity_weights(tape, types, times).value();
  const double total =
      double(rates(0, 0, 0, 0)) + double(rates(0, 0, 1, 0)) + double(rates(0, 0, 2, 0));
  const EventForecast forecast = forecast_events(model, types, times);
  EXPECT_NEAR(forecast.median(0, 0) * total, std::log(2.0), 1e-4);
  EXPECT_NEAR(forecast.mean(0, 0) * total, 1, 1e-4);
}

/// The initial median gap of all types together does not depend on their number.
TEST(EventForecast, StartsAtRatesOfAllTypesTogether) {
  for (const std::size_t types : {9, 1000}) {
    EventModelSpec spec = small_spec(0);
    spec.types = types;
    EventModel model(spec);
    initialize(model, 1);
    Tape tape({.recording = false});
    const Tensor rates = model
                             .intensity_weights(tape, Indices{{1, 1}, {0}},
                                                Times(std::vector<std::size_t>{1, 1}, 0.0))
                             .value();
    double total = 0;
    for (std::size_t i = 0; i < rates.size(); ++i) total += double(rates.data()[i]);
    EXPECT_GT(total, 2) << types;
    EXPECT_LT(total, 16) << types;
  }
}

}  // namespace event_forecast_test
}  // namespace bochner::inline BOCHNER_PRECISION
