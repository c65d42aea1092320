#include <gmock/gmock.h>

#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <bochner/layers/recurrences/recurrent_specs.hpp>

#include "layers/mixer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace mixers_test {

using namespace layer_check;

MixerSpec spec_of(const std::string& kind, bool rotary, const std::string& time_kernel,
                  bool causal = true) {
  MixerSpec spec;
  spec.kind = kind;
  spec.width = 8, spec.heads = 2;
  spec.causal = causal, spec.rotary = rotary;
  spec.features.m = 5;
  spec.time_kernel = {time_kernel, 2, 30};
  spec.chunk = 4;
  return spec;
}

/// Returns every form of the recurrences.
std::vector<MixerSpec> recurrent_specs(bool causal) {
  std::vector<MixerSpec> specs;
  for (const char* form : {"s4d", "dss", "s5", "lru", "ema"}) {
    specs.push_back(spec_of("ssm", false, "none", causal));
    SsmSpec& own = specs.back().own.of<SsmSpec>();
    own.form = form, own.states = 4, own.blocks = 2;
  }
  specs.push_back(specs.front());
  specs.back().own.of<SsmSpec>().discretisation = "bilinear";
  specs.back().convolution = 3;
  for (const char* candidate : {"positive", "linear"}) {
    specs.push_back(spec_of("min_gru", false, "none", causal));
    specs.back().own.of<MinGruSpec>() = {1.5, candidate};
  }
  specs.back().convolution = 3;
  specs.push_back(spec_of("mamba", false, "none", causal));
  specs.back().own.of<MambaSpec>() = {.states = 3, .convolution = 2};
  specs.push_back(spec_of("mamba2", false, "none", causal));
  specs.back().own.of<Mamba2Spec>() = {.states = 5, .convolution = 3};
  specs.push_back(spec_of("rwkv7", false, "none", causal));
  specs.back().own.of<Rwkv7Spec>().rank = 3;
  specs.push_back(spec_of("mlstm", false, "none", causal));
  specs.push_back(spec_of("mlstm", true, "none", causal));
  specs.back().convolution = 3;
  return specs;
}

std::vector<MixerSpec> causal_specs() {
  std::vector<MixerSpec> specs = recurrent_specs(true);
  for (const char* kind : {"softmax", "linear"}) {
    for (bool rotary : {false, true}) {
      for (const char* time : {"none", "decay"}) specs.push_back(spec_of(kind, rotary, time));
    }
    specs.push_back(spec_of(kind, true, "none"));
    specs.back().convolution = 3;
    specs.push_back(spec_of(kind, true, "decay"));
    specs.back().normalize = "l2", specs.back().sharpness = 2;
  }
  for (const char* time : {"rotation", "spectral", "gate"})
    specs.push_back(spec_of("linear", false, time));
  specs.push_back(spec_of("linear", false, "rotation"));
  specs.back().features.kind = "elu";
  for (const char* features : {"positive", "trigonometric"}) {
    for (const char* time : {"none", "decay", "gate", "spectral"}) {
      specs.push_back(spec_of("linear", features[0] == 'p', time));
      specs.back().update = "delta", specs.back().features.kind = features;
      specs.back().delta.negative = time == std::string("gate"), specs.back().convolution = 2;
    }
  }
  specs.push_back(spec_of("linear", true, "gate"));
  specs.back().time_kernel.per = "channel";
  for (const char* time : {"decay", "gate"}) {
    specs.push_back(spec_of("linear", false, time));
    specs.back().time_kernel.per = "channel", specs.back().update = "delta";
    specs.back().features.kind = "fourier";
  }
  for (const char* time : {"none", "gate", "spectral"}) {
    specs.push_back(spec_of("log_linear", time[0] == 'n', time));
    if (time[0] == 'g') specs.back().features.kind = "fourier", specs.back().convolution = 2;
  }
  specs.push_back(spec_of("hgrn2", false, "none"));
  for (std::size_t window : {1, 5, 100}) {
    for (const char* kind : {"softmax", "linear"}) {
      specs.push_back(spec_of(kind, true, window == 5 ? "decay" : "none"));
      specs.back().window = window;
    }
  }
  return specs;
}

std::string name_of(const MixerSpec& spec) {
  return spec.kind + (spec.kind == "ssm" ? ", " + spec.own.of<SsmSpec>().form : "") +
         (spec.causal ? "" : ", both directions") + (spec.rotary ? ", rotary" : "") + ", " +
         spec.time_kernel.kind + (spec.convolution > 0 ? ", convolution" : "") +
         (spec.normalize != "none" ? ", " + spec.normalize : "") +
         (spec.update != "sum" ? ", " + spec.update + ", " + spec.features.kind : "") +
         ", window " + std::to_string(spec.window);
}

TEST(Mixers, AreDifferentiableThroughAllTheirParameters) {
  std::vector<MixerSpec> specs = causal_specs();
  specs.push_back(spec_of("softmax", false, "decay", false));
  specs.push_back(spec_of("linear", true, "none", false));
  for (const MixerSpec& spec : recurrent_specs(false)) specs.push_back(spec);
  specs.push_back(spec_of("linear", true, "gate", false));
  specs.back().update = "delta";
  specs.push_back(spec_of("log_linear", false, "decay", false));
  for (const MixerSpec& spec : specs) {
    SCOPED_TRACE(name_of(spec));
    const std::unique_ptr<Mixer> mixer = mixers().make(spec.kind, spec);
    randomize(*mixer, 0.4);
    check_layer(*mixer, random_tensor({2, 7, 8}, 1),
                [&](Tape& tape, const Var& x) { return mixer->forward(tape, x); });
  }
}

TEST(Mixers, AddToAResidualWithTheBitsOfASum) {
  const std::vector<Tensor> inputs{random_tensor({2, 20, 8}, 3), random_tensor({2, 20, 8}, 1)};
  const Layout layout{.lengths = {20, 13}};
  for (const MixerSpec& spec : causal_specs()) {
    SCOPED_TRACE(name_of(spec));
    const std::unique_ptr<Mixer> mixer = mixers().make(spec.kind, spec);
    randomize(*mixer);
    const auto fused = op_check::value_and_gradients(
        [&](Tape& tape, const std::vector<Var>& x) {
          Normed rows(x[1]);
          return mixer->forward_add(tape, x[0], rows, layout);
        },
        inputs);
    const auto composed = op_check::value_and_gradients(
        [&](Tape& tape, const std::vector<Var>& x) {
          return x[0] + mixer->forward(tape, x[1], layout);
        },
        inputs);
    for (std::size_t i = 0; i < fused.size(); ++i)
      op_check::expect_equal_bits(fused[i], composed[i]);
  }
}

TEST(Mixers, StepByStepEqualTheBatch) {
  for (const MixerSpec& spec : causal_specs()) {
    SCOPED_TRACE(name_of(spec));
    const std::unique_ptr<Mixer> mixer = mixers().make(spec.kind, spec);
    randomize(*mixer);
    expect_stream_equals_batch(*mixer, random_tensor({1, 70, 8}, 1));
    expect_stream_equals_batch(*mixer, random_tensor({3, 20, 8}, 2));
  }
}

TEST(Mixers, NeverSeeTheFutureToTheBit) {
  for (const MixerSpec& spec : causal_specs()) {
    SCOPED_TRACE(name_of(spec));
    const std::unique_ptr<Mixer> mixer = mixers().make(spec.kind, spec);
    randomize(*mixer);
    expect_past_only(*mixer, 8, 70);
  }
}

/// Shorter than the window, equal, longer, and empty.
TEST(Mixers, SeePaddedSequencesAsTheyAreAlone) {
  std::vector<MixerSpec> specs = causal_specs();
  for (const MixerSpec& spec : recurrent_specs(false)) specs.push_back(spec);
  specs.push_back(spec_of("log_linear", false, "gate", false));
  for (const MixerSpec& spec : specs) {
    SCOPED_TRACE(name_of(spec));
    const std::unique_ptr<Mixer> mixer = mixers().make(spec.kind, spec);
    randomize(*mixer);
    expect_padding_changes_nothing(*mixer, 8, {0, 3, 5, 19}, 20);
  }
}

TEST(Mixers, WithoutCausalityCannotStep) {
  for (const char* kind : {"softmax", "linear"}) {
    const std::unique_ptr<Mixer> mixer = mixers().make(kind, spec_of(kind, false, "none", false));
    Tape tape;
    const auto state = mixer->start();
    EXPECT_THAT(op_check::error_of([&] {
                  mixer->step(tape, zeros({1, 1, 8}), *state);
                }),
                testing::HasSubstr("step() requires a causal mixer"));
  }
}

TEST(Mixers, StepManySequencesOnlyIfTheyBeganSo) {
  for (const std::string& kind : mixers().names()) {
    for (const std::size_t taps : {0, 3}) {
      MixerSpec spec = spec_of(kind, false, "none");
      if (mixers().traits(kind, spec).convolution) spec.convolution = taps;
      const std::unique_ptr<Mixer> mixer = mixers().make(kind, spec);
      for (const std::size_t before : {1, 3}) {
        Tape tape({.recording = false});
        const auto state = mixer->start();
        mixer->step(tape, zeros({before, 1, 8}), *state);
        EXPECT_THROW(mixer->step(tape, zeros({2, 1, 8}), *state), std::invalid_argument)
            << kind << ", convolution " << taps << ", " << before;
      }
    }
  }
}

TEST(Mixers, WantHeadsThatDivideTheWidth) {
  MixerSpec spec = spec_of("softmax", false, "none");
  spec.heads = 3;
  EXPECT_EQ(op_check::error_of([&] { mixers().make("softmax", spec); }),
            "[mixer] heads = 3 must divide width = 8");
}

/// Records the attention inputs of the first token.
struct FirstToken : AttentionObserver {
  std::vector<double> q, k;
  void attended(const Mixer&, const AttentionInputs& what) override {
    q.assign(what.q.data(), what.q.data() + what.q.size());
    k.assign(what.k.data(), what.k.data() + what.k.size());
  }
};

TEST(UnitSphere, HoldsQueriesAndKeysAtTheSharpnessOfTheirHead) {
  for (const char* kind : {"softmax", "linear"}) {
    MixerSpec spec = spec_of(kind, true, "none");
    spec.normalize = "l2", spec.sharpness = 3;
    const auto mixer = mixers().make(kind, spec);
    initialize(*mixer, 1);
    FirstToken seen;
    Tape tape;
    tape.observer = &seen;
    mixer->forward(tape, random_tensor({1, 5, 8}, 1));
    for (const std::vector<double>& x : {seen.q, seen.k}) {
      for (std::size_t i = 0; i < x.size(); i += 4) {
        double square = 0;
        for (std::size_t j = 0; j < 4; ++j) square += x[i + j] * x[i + j];
        EXPECT_NEAR(square / std::sqrt(4.0), spec.sharpness, is_double ? 1e-9 : 1e-5);
      }
    }
  }
}

TEST(SoftmaxMixer, RefusesTimeKernelsThatMakeFeatures) {
  for (const std::string time : {"rotation", "spectral", "gate"})
    EXPECT_EQ(
        op_check::error_of([&] { mixers().make("softmax", spec_of("softmax", false, time)); }),
        "[softmax] time kernel " + time + " requires linear attention; set it to none or decay");
}

}  // namespace mixers_test
}  // namespace bochner::inline BOCHNER_PRECISION
