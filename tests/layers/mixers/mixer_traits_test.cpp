#include <gmock/gmock.h>

#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <bochner/layers/recurrences/recurrent_specs.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace mixer_traits_test {

using namespace layer_check;

/// Returns every kind, and forms whose traits differ.
std::vector<MixerSpec> all_specs() {
  std::vector<MixerSpec> specs;
  for (const std::string& kind : mixers().names()) {
    specs.emplace_back();
    specs.back().kind = kind;
  }
  specs.emplace_back();
  specs.back().kind = "linear", specs.back().update = "delta";
  specs.emplace_back();
  specs.back().kind = "linear", specs.back().features.kind = "cosformer";
  specs.emplace_back();
  specs.back().kind = "linear", specs.back().features.kind = "hybrid";
  specs.back().features.estimators = {"cosformer", "elu"};
  specs.emplace_back();
  specs.back().kind = "ssm";
  specs.back().own.of<SsmSpec>().form = "s5", specs.back().own.of<SsmSpec>().blocks = 2;
  for (MixerSpec& spec : specs) {
    spec.width = 8, spec.heads = 2, spec.chunk = 4;
    spec.features.m = 5, spec.features.length = spec.training_length = 16;
  }
  return specs;
}

MixerTraits traits_of(const MixerSpec& spec) { return mixers().traits(spec.kind, spec); }

std::unique_ptr<Mixer> mixer_of(const MixerSpec& spec) {
  auto mixer = mixers().make(spec.kind, spec);
  randomize(*mixer);
  return mixer;
}

bool works(const std::function<void()>& call) { return op_check::error_of(call) == "no error"; }
bool can_have(const MixerSpec& spec) {
  return works([&] { mixers().make(spec.kind, spec); });
}

TEST(MixerTraits, AreWhatMixersTake) {
  for (const MixerSpec& spec : all_specs()) {
    SCOPED_TRACE(spec.kind + ", " + spec.update);
    const MixerTraits has = traits_of(spec);
    MixerSpec rotary = spec, normed = spec, timed = spec, windowed = spec, uneven = spec;
    rotary.rotary = true;
    EXPECT_EQ(can_have(rotary), has.queries);
    normed.normalize = "l2";
    EXPECT_EQ(can_have(normed), has.normalize);
    timed.time.kind = "free", timed.time.use = "attend";
    EXPECT_EQ(can_have(timed), has.times);
    windowed.window = 3;
    EXPECT_EQ(can_have(windowed), has.window);
    MixerSpec impossible = spec;
    impossible.features.kind = "hybrid", impossible.features.estimators = {"hybrid"};
    EXPECT_NE(can_have(impossible), has.features);
    uneven.heads = 3;
    EXPECT_NE(can_have(uneven), has.heads);
    for (const char* kind : {"decay", "rotation", "spectral", "gate"}) {
      MixerSpec factor = spec;
      factor.time_kernel.kind = kind;
      EXPECT_EQ(can_have(factor), has.has_time_kernel(kind)) << kind;
    }
    MixerSpec channels = spec;
    channels.time_kernel.kind = "decay", channels.time_kernel.per = "channel";
    EXPECT_EQ(can_have(channels), has.channel_rates);
  }
}

/// The convolution adds parameters if the mixer has one.
TEST(MixerTraits, KnowOfShortConvolutions) {
  for (MixerSpec spec : all_specs()) {
    const std::size_t without = parameters_of(*mixers().make(spec.kind, spec)).size();
    spec.convolution = 3;
    const bool more =
        can_have(spec) && parameters_of(*mixers().make(spec.kind, spec)).size() > without;
    EXPECT_EQ(more, traits_of(spec).convolution) << spec.kind;
  }
}

TEST(MixerTraits, KnowOfIrregularTimes) {
  for (const MixerSpec& spec : all_specs()) {
    const auto mixer = mixer_of(spec);
    Tape tape;
    const Layout layout{.gaps = filled({1, 5}, real(1.5))};
    const bool takes = works([&] { mixer->forward(tape, random_tensor({1, 5, 8}, 1), layout); });
    EXPECT_EQ(takes, traits_of(spec).gaps) << spec.kind;
  }
}

struct Seen : AttentionObserver {
  bool any = false;
  void attended(const Mixer&, const AttentionInputs&) override { any = true; }
};

TEST(MixerTraits, KnowWhatShowsItsAttention) {
  for (const MixerSpec& spec : all_specs()) {
    const auto mixer = mixer_of(spec);
    Seen seen;
    Tape tape;
    tape.observer = &seen;
    mixer->forward(tape, random_tensor({1, 5, 8}, 1));
    EXPECT_EQ(seen.any, traits_of(spec).shows_attention) << spec.kind;
  }
}

/// Permuted tokens give permuted outputs.
TEST(MixerTraits, KnowWhatDependsOnTheOrder) {
  for (MixerSpec spec : all_specs()) {
    spec.causal = false;
    const auto mixer = mixer_of(spec);
    const std::size_t T = 9;
    const Tensor x = random_tensor({1, T, 8}, 1);
    Tensor turned = x;
    for (std::size_t t = 0; t < T; ++t)
      std::copy_n(x.data() + t * 8, 8, turned.data() + (t + 4) % T * 8);
    Tape tape({.recording = false});
    const Tensor y = mixer->forward(tape, x).value(), other = mixer->forward(tape, turned).value();
    double difference = 0;
    for (std::size_t t = 0; t < T; ++t)
      for (std::size_t e = 0; e < 8; ++e)
        difference = std::max(difference, std::abs(double(y.data()[t * 8 + e]) -
                                                   double(other.data()[(t + 4) % T * 8 + e])));
    EXPECT_EQ(difference < 1e-5, traits_of(spec).any_order) << spec.kind << ": " << difference;
  }
}

}  // namespace mixer_traits_test
}  // namespace bochner::inline BOCHNER_PRECISION
