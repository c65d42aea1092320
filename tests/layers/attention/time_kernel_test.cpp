#include <gtest/gtest.h>

#include <bochner/autodiff/ops/features.hpp>
#include <bochner/layers/attention/time_kernel.hpp>
#include <cmath>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace time_kernel_test {

using namespace layer_check;

constexpr double tolerance = is_double ? 1e-12 : 2e-5;

TEST(TimeKernel, StartsWithGeometricTimes) {
  Tape tape;
  const Var x = random_tensor({1, 3, 8}, 1);
  for (const char* kind : {"decay", "rotation", "gate"}) {
    TimeKernel kernel({kind, 4, 256}, 4, 8);
    const Tensor rate = kernel.rate(tape, x).value();
    for (std::size_t h = 0; h < 4; ++h)
      EXPECT_NEAR(1 / double(rate.data()[h]), 4 * std::pow(4.0, double(h)), 1e-3) << kind;
  }
  EXPECT_FALSE(TimeKernel({"none", 4, 256}, 4, 8).rate(tape, x).exists());
  EXPECT_EQ(op_check::error_of([] {
              TimeKernel({"alibi", 4, 256}, 4, 8);
            }),
            "[time_kernel] no time kernel is called \"alibi\"; there are: none, decay, rotation, "
            "gate");
}

TEST(TimeKernel, CountsIrregularGaps) {
  TimeKernel kernel({"decay", 2, 8}, 2, 4);
  Tape tape;
  const Var rate = kernel.rate(tape, zeros({1, 2, 4}), {.gaps = Tensor{{1, 3}}});
  EXPECT_EQ(rate.shape(), (Shape{1, 2, 2}));
  const double expected[] = {1 / 2., 1 / 8., 3 / 2., 3 / 8.};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(double(rate.data()[i]), expected[i], 1e-6);
}

TEST(TimeKernel, RotationMultipliesTheKernelByACosineOfTheLag) {
  TimeKernel kernel({"rotation", 3, 20}, 2, 4);
  randomize(kernel, 0.4);
  Tape tape;
  const Tensor rotation = kernel.rotation(tape).value();
  const Tensor gaps{{0.5, 2.25, 1, 0.125, 7}};
  const Times times = times_of({.gaps = gaps}, 5, 0);
  for (const FeatureScale scale : {FeatureScale::linear, FeatureScale::logarithmic}) {
    const bool logarithmic = scale == FeatureScale::logarithmic;
    const Tensor phi = random_tensor({1, 5, 2, 3}, 2);
    const Tensor with_turns =
        turned(Features(Var(phi), scale), kernel.turns(tape, {.gaps = gaps}, 5, 0))
            .values()
            .value();
    ASSERT_EQ(with_turns.shape(), (Shape{1, 5, 2, 9}));
    const auto product = [&](const Tensor& features, std::size_t i, std::size_t j, std::size_t h) {
      const std::size_t F = features.shape()[3];
      double sum = 0;
      for (std::size_t f = 0; f < F; ++f) {
        const double a = double(features(0, i, h, f)), b = double(features(0, j, h, f));
        sum += logarithmic ? std::exp(a + b) : a * b;
      }
      return sum;
    };
    for (std::size_t h = 0; h < 2; ++h)
      for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
          const double lag = times(0, i) - times(0, j);
          const double factor = 1 + double(rotation(h, 1)) * std::cos(double(rotation(h, 0)) * lag);
          EXPECT_NEAR(product(with_turns, i, j, h), product(phi, i, j, h) * factor, 20 * tolerance);
        }
  }
}

/// A million tokens on, where the phase is thousands of turns.
TEST(TimeKernel, RotationIsExactFarFromTheStart) {
  TimeKernel kernel({"rotation", 3, 20}, 2, 4);
  randomize(kernel, 0.4);
  Tape tape;
  const Tensor rotation = kernel.rotation(tape).value();
  const double first = 1 << 20;
  const Tensor turns = kernel.turns(tape, {}, 8, first).value();
  for (std::size_t h = 0; h < 2; ++h) {
    const double depth = std::sqrt(2 * double(rotation(h, 1)));
    for (std::size_t t = 0; t < 8; ++t) {
      const double phase = double(rotation(h, 0)) * (first + double(t));
      EXPECT_NEAR(double(turns(0, t, h, 0)), (1 + depth * std::cos(phase)) / std::sqrt(3),
                  is_double ? 1e-9 : 1e-5);
    }
  }
}

/// Attention over tokens at irregular distances, in one go and token by token.
TEST(TimeKernel, StepsOverIrregularGapsEqualTheBatch) {
  for (const char* kind : {"decay", "rotation", "gate"}) {
    MixerSpec spec;
    spec.width = 8, spec.heads = 2, spec.chunk = 4;
    spec.features.m = 5;
    spec.time_kernel = {kind, 2, 30};
    const std::unique_ptr<Mixer> mixer = mixers().make("linear", spec);
    randomize(*mixer);
    const std::size_t T = 21;
    const Tensor x = random_tensor({1, T, 8}, 1);
    Tensor gaps = random_tensor({1, T}, 2);
    gaps = xt::abs(gaps) * real(3);
    Tape tape;
    tape.recording = false;
    const Tensor batch = mixer->forward(tape, x, {.gaps = gaps}).value();
    const std::unique_ptr<MixerState> state = mixer->start();
    for (std::size_t t = 0; t < T; ++t) {
      Tensor token = uninitialized({1, 1, 8});
      std::copy_n(x.data() + t * 8, 8, token.data());
      state->gap = gaps.data()[t];
      const Tensor y = mixer->step(tape, token, *state).value();
      for (std::size_t e = 0; e < 8; ++e)
        ASSERT_NEAR(double(y.data()[e]), double(batch.data()[t * 8 + e]), tolerance) << kind << t;
    }
  }
}

}  // namespace time_kernel_test
}  // namespace bochner::inline BOCHNER_PRECISION
