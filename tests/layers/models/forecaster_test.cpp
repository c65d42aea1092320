#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/models/forecaster.hpp>
#include <bochner/optim/optimizer.hpp>
#include <cmath>
#include <numbers>

#include "layers/layer_check.hpp"
#include "layers/models/small_forecaster.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace forecaster_test {

using namespace layer_check;
using namespace small_forecaster;

struct Variant {
  const char* name;
  std::function<ForecasterSpec()> spec;
};

std::vector<Variant> variants() {
  const auto changed = [](const std::string& backbone, auto change) {
    return [=] {
      ForecasterSpec spec = tiny(backbone);
      change(spec);
      return spec;
    };
  };
  return {
      {"linear", changed("linear", [](ForecasterSpec&) {})},
      {"own maps", changed("linear", [](ForecasterSpec& spec) { spec.per_variate = true; })},
      {"decomposed",
       changed("linear",
               [](ForecasterSpec& spec) { spec.moving_average = 3, spec.loss.kind = "huber"; })},
      {"nlinear",
       changed("linear", [](ForecasterSpec& spec) { spec.instance_norm.kind = "last"; })},
      {"linear attention",
       changed("attention", [](ForecasterSpec& spec) { spec.instance_norm.affine = true; })},
      {"softmax attention", changed("attention",
                                    [](ForecasterSpec& spec) {
                                      spec.stack.block.mixer.kind = "softmax";
                                      spec.stack.positions = "rotary";
                                    })},
      {"rows at their times", changed("rows",
                                      [](ForecasterSpec& spec) {
                                        spec.stack.block.mixer.kind = "softmax";
                                        spec.stack.block.mixer.time_kernel = {"decay", 2, 9};
                                        spec.time.kind = "free", spec.time.use = "concatenate";
                                        spec.time.m = 2, spec.time.longest = 20;
                                      })},
      {"rows that rotate", changed("rows",
                                   [](ForecasterSpec& spec) {
                                     spec.stack.block.mixer.time_kernel = {"decay", 2, 9};
                                     spec.time.kind = "free", spec.time.use = "rotate";
                                     spec.time.longest = 20;
                                   })},
      {"quantiles", changed("attention",
                            [](ForecasterSpec& spec) {
                              spec.loss.kind = "quantile", spec.quantiles = {0.1, 0.4, 0.8, 0.9};
                            })},
  };
}

TEST(Forecaster, IsDifferentiableThroughAllItsParameters) {
  const Tensor past = random_tensor({2, 2, 9}, 1), future = random_tensor({2, 2, 3}, 2);
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.name);
    Forecaster model(variant.spec());
    randomize(model, 0.4);
    check_layer(model, past, [&](Tape& tape, const Var& x) {
      return model.loss(model.forward(tape, x, {irregular_times(2)}), future);
    });
  }
}

/// Forecasts in window units do not depend on shift and scale.
TEST(Forecaster, FollowsShiftAndScaleOfItsWindow) {
  const Tensor past = random_tensor({1, 2, 9}, 3);
  for (const Variant& variant : variants()) {
    if (variant.spec().instance_norm.kind != "revin" || variant.spec().instance_norm.affine)
      continue;
    SCOPED_TRACE(variant.name);
    Forecaster model(variant.spec());
    randomize(model, 0.4);
    Tape tape({.recording = false});
    const Tensor before = model.forward(tape, Var(past), {irregular_times(1)}).value();
    const Tensor moved = past * real(3) + real(5);
    const Tensor after = model.forward(tape, Var(moved), {irregular_times(1)}).value();
    for (std::size_t i = 0; i < before.size(); ++i)
      EXPECT_NEAR(after.data()[i], before.data()[i] * 3 + 5, 1e-3);
  }
}

/// Other variates and windows have no influence.
TEST(Forecaster, SeesOneVariateOfOneWindowAtATime) {
  const Tensor past = random_tensor({2, 2, 9}, 4);
  Tensor changed = past;
  changed(0, 1, 5) += 1;
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.name);
    Forecaster model(variant.spec());
    randomize(model, 0.4);
    Tape tape({.recording = false});
    const Tensor before = model.forward(tape, Var(past), {irregular_times(2)}).value(),
                 after = model.forward(tape, Var(changed), {irregular_times(2)}).value();
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool touched = i / (before.size() / 4) == 1;
      EXPECT_EQ(before.data()[i] != after.data()[i], touched) << i;
    }
  }
}

/// Without weights, "last" repeats the last value.
TEST(Forecaster, WithoutWeightsItPersists) {
  ForecasterSpec spec = tiny("linear");
  spec.instance_norm.kind = "last";
  Forecaster model(spec);
  const Tensor past = random_tensor({2, 2, 9}, 5);
  Tape tape;
  const Tensor forecast = model.forward(tape, Var(past)).value();
  for (std::size_t i = 0; i < forecast.size(); ++i)
    EXPECT_EQ(forecast.data()[i], past.data()[i / 3 * 9 + 8]);
}

TEST(Forecaster, TheTrendIsTheMeanOverNeighboursWithRepeatedEnds) {
  ForecasterSpec spec = tiny("linear");
  spec.variates = 1, spec.lookback = 4, spec.horizon = 4;
  spec.instance_norm.kind = "none", spec.moving_average = 3;
  Forecaster model(spec);
  for (const NamedParameter& named : parameters_of(model)) {
    if (named.name != "backbone.trend.weight") continue;
    for (std::size_t i = 0; i < 4; ++i) named.parameter->value()(i, i) = 1;
  }
  Tape tape;
  const Tensor forecast = model.forward(tape, Var(Tensor{{{3, 0, 6, 9}}})).value();
  const double expected[] = {2, 3, 5, 8};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(forecast(0, 0, i), expected[i], 1e-5);
}

/// Sums of sinusoids satisfy a linear recurrence: the future is linear in the window.
TEST(Forecaster, ALinearOneContinuesSumsOfSinusoids) {
  ForecasterSpec spec;
  spec.variates = 2, spec.lookback = 24, spec.horizon = 8;
  spec.instance_norm.kind = "none";
  Forecaster model(spec);
  initialize(model, 1);
  const auto window = [&](std::size_t first, std::size_t length) {
    Tensor x = uninitialized({1, 2, length});
    for (std::size_t v = 0; v < 2; ++v) {
      for (std::size_t i = 0; i < length; ++i) {
        const double t = double(first + i) * 2 * std::numbers::pi;
        x(0, v, i) = real(std::sin(t / 12 + double(v)) + 0.5 * std::cos(t / 7.3 + 2 * double(v)));
      }
    }
    return x;
  };
  const auto adam =
      make_optimizer({.kind = "adam", .beta2 = 0.999, .weight_decay = 0}, parameters_of(model));
  for (std::size_t step = 0; step < 1500; ++step) {
    adam->zero_gradients();
    Tape tape;
    const std::size_t first = step * 5 % 400;
    const Var forecast = model.forward(tape, Var(window(first, 24)));
    tape.backward(model.loss(forecast, window(first + 24, 8)));
    adam->step(step < 1000 ? 0.01 : 0.001);
  }
  Tape tape;
  const Var error = model.loss(model.forward(tape, Var(window(1000, 24))), window(1024, 8));
  EXPECT_LT(error.value()(), 1e-4);
}

/// The head reads the first token only, yet the last row of the window matters.
TEST(Forecaster, AttentionLooksInBothDirections) {
  Tensor past = random_tensor({1, 2, 9}, 6);
  for (const char* mixer : {"softmax", "linear"}) {
    ForecasterSpec spec = tiny("attention");
    spec.stack.block.mixer.kind = mixer, spec.instance_norm.kind = "none";
    Forecaster model(spec);
    randomize(model, 0.4);
    Tensor& head = parameters_of(model).end()[-2].parameter->value();
    ASSERT_EQ(head.shape()[0], spec.patches() * 4);
    std::fill(head.data() + 4 * spec.horizon, head.data() + head.size(), real(0));
    Tape tape({.recording = false});
    const Tensor before = model.forward(tape, Var(past)).value();
    past(0, 0, 8) += 1;
    EXPECT_NE(model.forward(tape, Var(past)).value()(0, 0, 0), before(0, 0, 0));
  }
}

ForecasterSpec timed(const std::string& mixer) {
  ForecasterSpec spec = tiny("rows");
  spec.stack.positions = "none", spec.stack.block.mixer.kind = mixer;
  spec.stack.block.mixer.time_kernel = {"decay", 2, 9};
  spec.time.kind = "free", spec.time.use = "rotate", spec.time.longest = 20;
  return spec;
}

Tensor forecast_at(Forecaster& model, const Tensor& past, const Times& times) {
  Tape tape({.recording = false});
  return model.forward(tape, tape.view(past), {times}).value();
}

/// The time of a future row changes its forecast and later ones; that of a past row changes all; a
/// shift of all times changes nothing if attention is exact rather than by features of rotated
/// queries and keys.
TEST(Forecaster, SaysWhatComesAtTheTimeOfEachRow) {
  const Tensor past = random_tensor({1, 2, 9}, 7);
  for (const char* mixer : {"softmax", "linear"}) {
    SCOPED_TRACE(mixer);
    Forecaster model(timed(mixer));
    randomize(model, 0.4);
    const Times times = irregular_times(1);
    const Tensor before = forecast_at(model, past, times);
    Times shifted = times + 100.0, later = times, seen = times;
    later(0, 10) += 0.25;
    seen(0, 4) += 0.25;
    const Tensor moved = forecast_at(model, past, shifted);
    const Tensor changed = forecast_at(model, past, later), other = forecast_at(model, past, seen);
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (std::string(mixer) == "softmax") {
        EXPECT_NEAR(moved.data()[i], before.data()[i], 1e-4);
      }
      EXPECT_EQ(changed.data()[i] != before.data()[i], i % 3 > 0) << i;
      EXPECT_NE(other.data()[i], before.data()[i]);
    }
  }
}

/// Regular rows need no gaps: kernels that count tokens agree.
TEST(Forecaster, CountsRowsWhereTheyAreRegular) {
  const Tensor past = random_tensor({1, 2, 9}, 7);
  Times numbers(std::vector<std::size_t>{1, 12});
  for (std::size_t i = 0; i < 12; ++i) numbers(0, i) = double(i);
  for (const char* mixer : {"softmax", "linear"}) {
    ForecasterSpec spec = timed(mixer);
    Forecaster gaps(spec);
    spec.regular = true;
    Forecaster counted(spec);
    randomize(gaps, 0.4), randomize(counted, 0.4);
    const Tensor wanted = forecast_at(gaps, past, numbers), y = forecast_at(counted, past, numbers);
    for (std::size_t i = 0; i < y.size(); ++i)
      EXPECT_NEAR(y.data()[i], wanted.data()[i], 1e-5) << mixer;
    EXPECT_EQ(forecast_at(counted, past, irregular_times(1)) == y, false);  // rotations see times
  }
}

/// Hours and seconds give the same model after fitting the scale.
TEST(Forecaster, CountsTimeInTheUnitOfItsData) {
  const Tensor past = random_tensor({1, 2, 9}, 7);
  const Times hours = irregular_times(1), seconds = 1.7e9 + 3600 * hours;
  Forecaster model(timed("softmax"));
  randomize(model, 0.4);
  model.time_scale()->fit(hours);
  const Tensor before = forecast_at(model, past, hours);
  model.time_scale()->fit(seconds);
  const Tensor after = forecast_at(model, past, seconds);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(after.data()[i], before.data()[i], 1e-3);
}

TEST(Forecaster, OfRowsNeedsTheirTimes) {
  Forecaster model(timed("softmax"));
  EXPECT_EQ(op_check::error_of([&] {
              forecast_at(model, zeros({1, 2, 9}), {});
            }),
            "[forecaster] times must be (1, 12) for past and future rows");
}

TEST(Forecaster, NamesItsParts) {
  Forecaster model(tiny("attention"));
  const std::vector<std::string> names = names_of(model);
  EXPECT_EQ(names.front(), "backbone.embedding.weight");
  EXPECT_EQ(names.back(), "backbone.head.bias");
  EXPECT_TRUE(std::count(names.begin(), names.end(), "backbone.blocks.0.mixer.query.weight"));
  EXPECT_EQ(buffers_of(model).front().name, "standardize.mean");
}

TEST(Forecaster, SaysWhatIsWrong) {
  const auto with = [](auto change) {
    return op_check::error_of([&] {
      ForecasterSpec spec = tiny("attention");
      change(spec);
      Forecaster model(spec);
      Tape tape;
      model.forward(tape, Var(zeros({1, 2, 8})));
    });
  };
  EXPECT_EQ(with([](ForecasterSpec&) {}), "[forecaster] the past must be (B, 2, 9), not (1, 2, 8)");
  EXPECT_EQ(with([](ForecasterSpec& spec) { spec.backbone = "lstm"; }),
            "[forecaster] backbone = \"lstm\"; there are: linear, attention, rows");
  EXPECT_EQ(with([](ForecasterSpec& spec) { spec.loss.kind = "nce"; }),
            "[loss] no loss of values is called \"nce\"; there are: mse, mae, huber");
  EXPECT_EQ(with([](ForecasterSpec& spec) { spec.patch.length = 10; }),
            "[forecaster] no patches of length 10 and stride 2 in 9 rows");
  EXPECT_EQ(
      with([](ForecasterSpec& spec) {
        spec.loss.kind = "quantile", spec.instance_norm.affine = true;
      }),
      "[forecaster] loss = \"quantile\" requires instance_norm.affine = false: a negative gain "
      "reverses quantiles");
}

/// An even width averages one more later neighbour.
TEST(Forecaster, TheTrendOfAnEvenWidthLooksFartherAhead) {
  ForecasterSpec spec = tiny("linear");
  spec.variates = 1, spec.lookback = 4, spec.horizon = 4;
  spec.instance_norm.kind = "none", spec.moving_average = 2;
  Forecaster model(spec);
  for (const NamedParameter& named : parameters_of(model))
    for (std::size_t i = 0; i < 4 && named.name == "backbone.trend.weight"; ++i)
      named.parameter->value()(i, i) = 1;
  Tape tape;
  const Tensor forecast = model.forward(tape, Var(Tensor{{{3, 0, 6, 9}}})).value();
  const double expected[] = {1.5, 3, 7.5, 9};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(forecast(0, 0, i), expected[i], 1e-5);
}

}  // namespace forecaster_test
}  // namespace bochner::inline BOCHNER_PRECISION
