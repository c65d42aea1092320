#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/models/event_model.hpp>
#include <bochner/layers/module.hpp>
#include <cmath>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace event_model_test {

using namespace layer_check;

constexpr double limit = is_double ? 1e-9 : 2e-4;

/// Three sequences of seven events of three types, and their successors.
struct Sample {
  Indices types{{3, 7}, {}}, next_types{{3, 7}, {}};
  Times times = Times(std::vector<std::size_t>{3, 7}), next_times = times;
  explicit Sample(double unit = 1, double origin = 0) {
    const RandomFunction random{3, Purpose::test, 8};
    double now = 0;
    for (std::size_t i = 0; i < 24; ++i) {
      now = i % 8 == 0 ? 0 : now + 0.125 + double(random.integer(2 * i, 24)) / 8;
      const auto type = std::int32_t(random.integer(2 * i + 1, 3));
      const std::size_t row = i / 8, t = i % 8;
      if (t < 7) types.values.push_back(type), times(row, t) = origin + unit * now;
      if (t > 0) next_types.values.push_back(type), next_times(row, t - 1) = origin + unit * now;
    }
  }
  EventSequences events() const { return {types, next_types, times, next_times}; }
};

EventModelSpec small_spec(const std::string& kind, const std::string& use,
                          const std::string& mixer = "softmax") {
  EventModelSpec spec;
  spec.types = 3;
  spec.length = 7;
  spec.stack.positions = kind == "none" ? "learned" : "none";
  spec.time.kind = kind;
  spec.time.use = use;
  spec.time.m = use == "rotate" ? 2 : 3;
  spec.time.longest = 20;
  spec.time.density.draws = "iid";
  spec.time.density.log_scale = -1;
  spec.stack.blocks = 1;
  spec.stack.block.width = 8;
  spec.stack.block.expansion = 2;
  spec.stack.block.mixer.kind = mixer;
  spec.stack.block.mixer.heads = 2;
  spec.stack.block.mixer.features.m = 6;
  spec.intensity.delays = 2;
  return spec;
}

Tensor outlook_of(EventModel& model, const Sample& sample) {
  Tape tape({.recording = false});
  return model.intensity_weights(tape, sample.types, sample.times).value();
}

Times filled_times(double time) {
  Times times(std::vector<std::size_t>{1, 1});
  times.fill(time);
  return times;
}

TEST(Intensity, IntegratesToItsCompensator) {
  Intensity intensity({2, 4, 3, 0.3, 4});
  initialize(intensity, 1);
  Tape tape({.recording = false});
  const Var weights = intensity.weights(tape, Var(random_tensor({1, 1, 4}, 1)));
  constexpr std::size_t steps = 4000;
  for (const double s : {0.0, 0.4, 9.0}) {
    double integral = 0;
    for (std::size_t i = 0; i < steps; ++i) {
      const Times at = filled_times(s * (double(i) + 0.5) / double(steps));
      const Tensor lambda = exp(intensity.log_intensity(weights, at)).value();
      integral += double(lambda.data()[0] + lambda.data()[1]) * s / double(steps);
    }
    const double exact = double(intensity.compensator(weights, filled_times(s)).value().data()[0]);
    EXPECT_NEAR(exact, integral, is_double ? 1e-6 : 1e-4);
  }
}

TEST(EventModel, IsDifferentiableHoweverTimesEnter) {
  const Sample sample;
  const auto check = [&](const EventModelSpec& spec) {
    EventModel model(spec);
    initialize(model, 1);
    for (const NamedParameter& named : parameters_of(model))
      if (named.name.starts_with("encoding.type") || named.name.starts_with("positions"))
        for (real& x : named.parameter->value()) x *= 20;
    model.scale().fit(sample.times);
    const GradientReport report = check_gradient(
        [&](Tape& tape) { return model.loss(tape, sample.events()); }, parameters_of(model));
    EXPECT_TRUE(report.passed) << spec.time.kind << " " << spec.time.use << ": "
                               << report.summary();
  };
  if (!is_double) return;
  check(small_spec("none", "concatenate"));
  check(small_spec("flow", "concatenate"));
  check(small_spec("mercer", "add", "linear"));
  for (const char* mixer : {"softmax", "linear"}) {
    check(small_spec("free", "attend", mixer));
    check(small_spec("gaussian", "rotate", mixer));
  }
  EventModelSpec decay = small_spec("none", "concatenate", "linear");
  decay.stack.block.mixer.time_kernel.kind = "decay";
  check(decay);
}

/// Sample with a place in the plane for every event.
struct PlacedSample : Sample {
  std::vector<double> places;
  PlacedSample() {
    const Tensor numbers = random_tensor({times.size(), 2}, 7);
    places.assign(numbers.begin(), numbers.end());
  }
  EventSequences events() const { return {types, next_types, times, next_times, places}; }
};

EventModelSpec placed_spec(const std::string& encoding, const std::string& mixer = "softmax") {
  EventModelSpec spec = small_spec("free", "concatenate", mixer);
  spec.dimensions = 2;
  spec.encoding.kind = encoding;
  spec.encoding.space.frequencies = 2, spec.encoding.time.frequencies = 1;
  if (encoding == "concatenated") spec.stack.block.width = 12;
  return spec;
}

TEST(EventModel, IsDifferentiableWithPlaces) {
  const PlacedSample sample;
  for (const char* encoding : {"fused", "concatenated"}) {
    EventModelSpec spec = placed_spec(encoding);
    spec.every_block = encoding[0] == 'f';
    EventModel model(spec);
    randomize(model, 0.3);
    model.scale().fit(sample.times);
    check_layer(model, random_tensor({1}, 1), [&](Tape& tape, const Var& factor) {
      return model.loss(tape, sample.events()) * factor;
    });
  }
}

/// Moving an event changes the predictions after it only.
TEST(EventModel, SeesPlacesOfThePast) {
  for (const char* mixer : {"softmax", "linear"}) {
    EventModel model(placed_spec("fused", mixer));
    initialize(model, 1);
    PlacedSample sample;
    model.place_scale().set({0, 0}, {2, 2}, 1);
    const auto intensity_weights = [&] {
      Tape tape;
      return model.intensity_weights(tape, sample.types, sample.times, sample.places).value();
    };
    const Tensor before = intensity_weights();
    sample.places[2 * 3] += 1;
    const Tensor after = intensity_weights();
    const auto token = std::ptrdiff_t(before.size() / sample.times.size());
    EXPECT_TRUE(std::equal(before.begin(), before.begin() + 3 * token, after.begin())) << mixer;
    for (std::ptrdiff_t t = 3; t < 7; ++t)
      EXPECT_FALSE(std::equal(before.begin() + t * token, before.begin() + (t + 1) * token,
                              after.begin() + t * token))
          << mixer << t;
    EXPECT_TRUE(std::equal(before.begin() + 7 * token, before.end(), after.begin() + 7 * token));
  }
  EventModel model(placed_spec("fused"));
  EXPECT_EQ(op_check::error_of([&] { outlook_of(model, Sample()); }),
            "[event_model] places must be (B, T, 2)");
}

/// ln of a density per minute is that per hour less ln 60, for any origin.
TEST(EventModel, NatsAreThoseOfTheUnitOfTheData) {
  const Sample minutes, hours(60, 4096);
  double nats[2];
  for (const Sample* sample : {&minutes, &hours}) {
    EventModel model(small_spec("flow", "concatenate"));
    initialize(model, 1);
    model.scale().fit(sample->times);
    Tape tape;
    nats[sample == &hours] = double(model.nats(tape, sample->events()).time.value().data()[0]);
  }
  EXPECT_NEAR(nats[1] - nats[0], std::log(60.0), limit);
}

/// Exact attention with rotated queries and keys, and decay by gaps, depend on lags only.
TEST(EventModel, OfLagsDoesNotSeeTheHour) {
  EventModelSpec decayed = small_spec("none", "concatenate", "linear");
  decayed.stack.positions = "none";
  decayed.stack.block.mixer.time_kernel.kind = "decay";
  const auto outlooks = [](const EventModelSpec& spec) {
    EventModel model(spec);
    initialize(model, 1);
    return std::pair(outlook_of(model, Sample()), outlook_of(model, Sample(1, 1024)));
  };
  for (const EventModelSpec& spec : {small_spec("flow", "rotate"), decayed}) {
    const auto [early, late] = outlooks(spec);
    op_check::expect_near(late, early, limit);
  }
  const auto [early, late] = outlooks(small_spec("flow", "concatenate"));
  EXPECT_GT(std::abs(late.data()[70] - early.data()[70]), 1e-6);
}

/// The same events at other times give other predictions.
TEST(EventModel, SeesTimes) {
  for (const char* use : {"concatenate", "add", "attend", "rotate"}) {
    EventModel model(small_spec("free", use));
    initialize(model, 1);
    Sample sample;
    const Tensor before = outlook_of(model, sample);
    for (std::size_t t = 3; t < 7; ++t) sample.times(0, t) += 2;
    const Tensor after = outlook_of(model, sample);
    const std::size_t token = before.size() / 21;
    EXPECT_TRUE(std::equal(before.begin(), before.begin() + 3 * token, after.begin())) << use;
    EXPECT_FALSE(std::equal(before.begin() + 3 * token, before.begin() + 7 * token,
                            after.begin() + 3 * token))
        << use;
  }
}

/// Token by token with gaps; that of the first is its time.
TEST(BlockStack, StepsThroughTimesAsThroughTheWholeSequence) {
  const Sample sample;
  for (const char* use : {"attend", "rotate"}) {
    for (const char* mixer : {"softmax", "linear"}) {
      StackSpec spec = small_spec("free", use, mixer).stack;
      spec.block.mixer.time = small_spec("free", use).time;
      BlockStack stack(spec);
      initialize(stack, 1);
      Layout layout;
      layout.times = Times(std::vector<std::size_t>{1, 7});
      std::copy_n(sample.times.begin(), 7, layout.times.begin());
      const Var x(random_tensor({1, 7, 8}, 1));
      Tape tape({.recording = false});
      const Var whole = stack.forward(tape, x, layout);
      BlockStack::State state = stack.start();
      for (std::size_t t = 0; t < 7; ++t) {
        const double gap = layout.times(0, t) - (t == 0 ? 0 : layout.times(0, t - 1));
        const Var y = stack.step(tape, slice(x, 1, t, t + 1), state, real(gap));
        op_check::expect_near(y.value(), slice(whole, 1, t, t + 1).value(), limit);
      }
    }
  }
}

TEST(EventModel, NamesWhatLearnsTime) {
  const auto has = [](const EventModelSpec& spec, const std::string& name) {
    EventModel model(spec);
    const std::vector<std::string> names = names_of(model);
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  EXPECT_TRUE(has(small_spec("flow", "concatenate"), "encoding.time.density.log_scale"));
  EXPECT_TRUE(has(small_spec("free", "rotate"), "blocks.0.mixer.time.log_frequency"));
  EXPECT_THROW(EventModel(small_spec("mercer", "rotate")), std::invalid_argument);
}

}  // namespace event_model_test
}  // namespace bochner::inline BOCHNER_PRECISION
