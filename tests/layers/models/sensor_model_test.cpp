#include <gmock/gmock.h>

#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/models/sensor_model.hpp>

#include "layers/layer_check.hpp"
#include "layers/models/small_spec.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace sensor_model_test {

using namespace layer_check;

SensorModelSpec sensor_spec(const std::string& encoding = "fused") {
  return with_small_parts(SensorModelSpec{.variates = 2, .dimensions = 3}, encoding);
}

/// Two windows of five readings of two variates in space.
struct Window {
  Tensor values = random_tensor({2, 5, 2}, 1), seen = filled({2, 5, 2}, 1);
  Tensor targets = zeros({2, 5, 2}), asked = zeros({2, 5, 2});
  std::vector<double> places, times;

  Window() {
    const RandomFunction random{3, Purpose::test, 1};
    for (std::size_t i = 0; i < 30; ++i) places.push_back(random.normal(i));
    for (std::size_t i = 0; i < 10; ++i) times.push_back(0.3 * double(i % 5));
    for (std::size_t i = 3; i < 20; i += 4) hide(i);
  }
  void hide(std::size_t i) {
    targets.data()[i] = values.data()[i];
    asked.data()[i] = 1;
    values.data()[i] = seen.data()[i] = 0;
  }
  SensorReadings readings() const { return {values, seen, places, times}; }
};

Tensor predicted(SensorModel& model, const Window& window) {
  Tape tape({.recording = false});
  return model.predict(tape, window.readings()).value();
}

TEST(SensorModel, IsDifferentiableWithEveryEncoding) {
  for (const std::string& kind : space_time_names()) {
    SCOPED_TRACE(kind);
    SensorModelSpec spec = sensor_spec(kind);
    if (kind == "concatenated") spec.stack.block.width = 12;
    SensorModel model(spec);
    randomize(model, 0.3);
    const Window window;
    check_layer(model, random_tensor({1}, 3), [&](Tape& tape, const Var& factor) {
      return model.loss(tape, window.readings(), window.targets, window.asked) * factor;
    });
  }
}

TEST(SensorModel, JudgesWhatIsAskedFor) {
  SensorModel model(sensor_spec());
  randomize(model, 0.3);
  Window window;
  const Tensor y = predicted(model, window);
  double sum = 0;
  for (std::size_t i = 3; i < 20; i += 4)
    sum += std::pow(double(y.data()[i]) - double(window.targets.data()[i]), 2) / 5;
  Tape tape;
  const auto loss = [&] {
    return double(
        model.loss(tape, window.readings(), window.targets, window.asked).value().data()[0]);
  };
  EXPECT_NEAR(loss(), sum, is_double ? 1e-12 : 1e-5);
  window.asked.fill(0), window.targets.fill(0);
  EXPECT_EQ(loss(), 0);
}

/// Readings are a set: their order has no effect, and readings with equal encodings have equal
/// predictions.
TEST(SensorModel, SeesPlaceAndTimeThroughTheEncodingAlone) {
  for (const std::string kind : {"none", "space", "time", "fused"}) {
    SensorModel model(sensor_spec(kind));
    randomize(model, 0.5);
    Window window, elsewhere, later, turned;
    for (std::size_t i = 0; i < 3; ++i) elsewhere.places[i] += 0.4;
    later.times[1] += 0.2;
    for (std::size_t v = 0; v < 2; ++v) {
      std::swap(turned.values.data()[v], turned.values.data()[2 + v]);
      std::swap(turned.seen.data()[v], turned.seen.data()[2 + v]);
    }
    for (std::size_t j = 0; j < 3; ++j) std::swap(turned.places[j], turned.places[3 + j]);
    std::swap(turned.times[0], turned.times[1]);
    const Tensor y = predicted(model, window);
    const auto moves = [&](const Window& other) {
      const Tensor z = predicted(model, other);
      double apart = 0;
      for (std::size_t i = 4; i < 10; ++i)  // other readings of this window
        apart = std::max(apart, std::abs(double(z.data()[i]) - double(y.data()[i])));
      return apart > 1e-4;
    };
    EXPECT_EQ(moves(elsewhere), kind == "space" || kind == "fused") << kind;
    EXPECT_EQ(moves(later), kind == "time" || kind == "fused") << kind;
    EXPECT_FALSE(moves(turned)) << kind;
  }
}

TEST(SensorModel, KeepsItsUnits) {
  SensorModel model(sensor_spec());
  model.scale().set({1, 2, 3}, {2, 4, 8}, 10);
  EXPECT_EQ(model.scale().scaled({3, 6, 11, 1, 2, 3}).coordinates,
            (std::vector<double>{1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(model.scale().scaled_times({5}), std::vector<double>{0.5});
  EXPECT_EQ(buffers_of(model).size(), 6u);  // including mean, deviation and the mask of W
}

TEST(SensorModel, SaysWhatItCannotDo) {
  SensorModel model(sensor_spec());
  Window window;
  window.times.pop_back();
  EXPECT_THAT(op_check::error_of([&] { predicted(model, window); }),
              testing::HasSubstr("[sensor_model] requires values and seen (B, T, 2)"));
}

}  // namespace sensor_model_test
}  // namespace bochner::inline BOCHNER_PRECISION
