#include <gmock/gmock.h>

#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <map>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace warm_start_test {

using namespace layer_check;
using op_check::error_of;
using testing::HasSubstr;

constexpr std::uint64_t warm_steps = 5;

MixerSpec spec_of(const std::string& features, const std::string& time_kernel = "decay") {
  MixerSpec spec;
  spec.kind = "linear", spec.width = 8, spec.heads = 2, spec.rotary = true;
  spec.features.kind = features, spec.features.m = 6;
  spec.time_kernel = {time_kernel, 2, 30};
  spec.chunk = 4;
  spec.warm = "exact", spec.warm_steps = warm_steps;
  return spec;
}

std::unique_ptr<Mixer> made(MixerSpec spec, const std::string& kind, const std::string& warm) {
  spec.kind = kind, spec.warm = warm;
  auto mixer = mixers().make(kind, spec);
  randomize(*mixer, 0.4);  // by name: shared parts are equal
  return mixer;
}

const Tensor input = random_tensor({2, 11, 8}, 1);
const Layout padded = {.lengths = {11, 7}};

/// Output of a pass at `step` and all gradients, of the mean square of the output or, unless
/// `of_output`, of the tape's loss only.
struct Pass {
  Tensor output;
  std::map<std::string, Tensor> gradients;
};
Pass pass(Mixer& mixer, std::uint64_t step, bool training = true, bool of_output = true,
          double share = 1) {
  for (const NamedParameter& named : parameters_of(mixer)) named.parameter->zero_gradient();
  Tape tape;
  tape.training = training, tape.step = step, tape.share = share;
  const Var y = mixer.forward(tape, tape.constant(input), padded);
  tape.backward(mean_squared_error(y, zeros(y.shape())) * (of_output ? 1 : 0));
  Pass result{y.value(), {}};
  for (const NamedParameter& named : parameters_of(mixer))
    result.gradients[named.name] =
        named.parameter->has_gradient() ? named.parameter->gradient() : zeros({0});
  return result;
}

bool is_of_map(const std::string& name) { return name.starts_with("features."); }

TEST(WarmStart, IsExactAttentionAndTeachesTheMapAlone) {
  for (const char* features : {"positive", "hyperbolic", "hedgehog", "hybrid_learned"}) {
    SCOPED_TRACE(features);
    const MixerSpec spec = spec_of(features);
    const auto warm = made(spec, "linear", "exact"), exact = made(spec, "softmax", "none");
    const Pass got = pass(*warm, warm_steps - 1), wanted = pass(*exact, warm_steps - 1);
    EXPECT_EQ(got.output, wanted.output);
    for (const auto& [name, gradient] : got.gradients) {
      if (is_of_map(name)) {
        EXPECT_GT(sum_of_squares(gradient.data(), gradient.size()), 0) << name;
      } else {
        EXPECT_EQ(gradient, wanted.gradients.at(name)) << name;
      }
    }
  }
}

TEST(WarmStart, AwaitsTheMapWhoseGradientsComeWhenAPartIsRunAgain) {
  const auto mixer = made(spec_of("positive"), "linear", "exact");
  Tape tape;
  tape.training = true, tape.step = warm_steps - 1;
  const auto forward = [&](Tape& part, const Var& x) { return mixer->forward(part, x, padded); };
  const Var y = checkpoint(tape, forward, tape.constant(input));
  for (const NamedParameter& named : parameters_of(*mixer))
    EXPECT_TRUE(named.parameter->is_in_use()) << named.name;
}

TEST(WarmStart, SeesRealTimesAndGates) {
  const MixerSpec spec = spec_of("positive");
  const auto warm = made(spec, "linear", "exact"), exact = made(spec, "softmax", "none");
  const auto gated = made(spec_of("positive", "gate"), "linear", "exact");
  Tape tape;
  tape.training = true;
  const Layout irregular = {.gaps = Tensor(xt::abs(random_tensor({2, 11}, 3)))};
  EXPECT_EQ(warm->forward(tape, tape.constant(input), irregular).value(),
            exact->forward(tape, tape.constant(input), irregular).value());
  const Tensor gate = pass(*gated, 0).gradients.at("time_kernel.gate");
  EXPECT_GT(sum_of_squares(gate.data(), gate.size()), 0);
}

/// Nearer tokens are exact already.
TEST(WarmStart, TeachesWhatAWindowLeaves) {
  MixerSpec spec = spec_of("positive");
  const auto exact = made(spec, "softmax", "none");
  for (const std::size_t window : {3, 11}) {
    spec.window = window;
    const auto warm = made(spec, "linear", "exact");
    const Pass got = pass(*warm, 0);
    EXPECT_EQ(got.output, pass(*exact, 0).output);
    EXPECT_EQ(got.gradients.at("features.density.mean").size() > 0, window == 3);
  }
}

TEST(WarmStart, IsOverFromItsLastStepOnToTheBit) {
  const MixerSpec spec = spec_of("positive");
  const auto warm = made(spec, "linear", "exact"), cold = made(spec, "linear", "none");
  const Pass got = pass(*warm, warm_steps), wanted = pass(*cold, warm_steps);
  EXPECT_EQ(got.output, wanted.output);
  EXPECT_EQ(got.gradients, wanted.gradients);
  EXPECT_NE(pass(*warm, warm_steps - 1).output, wanted.output);
}

TEST(WarmStart, LeavesEvaluationAndStreamingToTheFeatures) {
  const MixerSpec spec = spec_of("positive");
  const auto warm = made(spec, "linear", "exact"), cold = made(spec, "linear", "none");
  EXPECT_EQ(pass(*warm, 0, false).output, pass(*cold, 0, false).output);
  for (const bool training : {false, true}) {
    Tape tape({.recording = false});
    tape.training = training;
    const Tensor token = random_tensor({1, 1, 8}, 2);
    const auto of_warm = warm->start(), of_cold = cold->start();
    EXPECT_EQ(warm->step(tape, token, *of_warm).value(), cold->step(tape, token, *of_cold).value());
  }
}

/// Returns mean (by features - exact)^2 / mean exact^2 over the heads' outputs, with identity
/// output maps.
double distance(const MixerSpec& spec, Mixer& mixer, Mixer& exact) {
  const Tensor y = pass(mixer, 0, false).output, wanted = pass(exact, 0, false).output;
  EXPECT_EQ(y.shape(), (Shape{2, 11, spec.width}));
  const Tensor gap = y - wanted;
  return sum_of_squares(gap.data(), gap.size()) / sum_of_squares(wanted.data(), wanted.size());
}

void pass_heads_through(Mixer& mixer) {
  for (const NamedParameter& named : parameters_of(mixer)) {
    if (!named.name.starts_with("output.")) continue;
    named.parameter->mark_initialized();
    Tensor& value = named.parameter->value();
    value.fill(0);
    for (std::size_t i = 0; value.dimension() == 2 && i < value.shape()[0]; ++i) value(i, i) = 1;
  }
}

/// Gradient by central differences.
TEST(WarmStart, AddsTheRelativeErrorOfTheOutputs) {
  if (!is_double) GTEST_SKIP() << "differences are taken in double";
  const MixerSpec spec = spec_of("positive");
  const auto warm = made(spec, "linear", "exact"), exact = made(spec, "softmax", "none");
  for (Mixer* mixer : {warm.get(), exact.get()}) pass_heads_through(*mixer);
  const Pass taught = pass(*warm, 0, true, false), half = pass(*warm, 0, true, false, 0.5);
  for (const NamedParameter& named : parameters_of(*warm)) {
    if (!is_of_map(named.name)) continue;
    const Tensor& gradient = taught.gradients.at(named.name);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      real& x = named.parameter->value().data()[i];
      const real before = x;
      x = before + real(1e-5);
      const double above = distance(spec, *warm, *exact);
      x = before - real(1e-5);
      const double below = distance(spec, *warm, *exact);
      x = before;
      EXPECT_NEAR(gradient.data()[i], (above - below) / 2e-5, 1e-7) << named.name << i;
      EXPECT_NEAR(half.gradients.at(named.name).data()[i], gradient.data()[i] / 2, 1e-12);
    }
  }
}

TEST(WarmStart, RefusesMapsOfOtherKernelsAndFactorsThatAreNotExact) {
  const auto error = [](const MixerSpec& spec) {
    return error_of([&] { mixers().make("linear", spec); });
  };
  for (const char* features : {"taylor", "pff", "fourier"})
    EXPECT_THAT(error(spec_of(features)), HasSubstr("estimates another")) << features;
  MixerSpec spec = spec_of("fourier");
  spec.normalize = "l2";  // where the Gaussian kernel is softmax's
  EXPECT_EQ(error(spec), "no error");
  EXPECT_THAT(error(spec_of("positive", "rotation")),
              HasSubstr("does not support time kernel rotation"));
  spec.denominator.kind = "norm";
  EXPECT_THAT(error(spec), HasSubstr("denominator.kind"));
}

}  // namespace warm_start_test
}  // namespace bochner::inline BOCHNER_PRECISION
