#include <gmock/gmock.h>

#include <bochner/layers/attention/mixer.hpp>
#include <bochner/layers/models/block.hpp>
#include <bochner/layers/recurrences/lower_bounds.hpp>
#include <cmath>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace hgrn2_test {

using namespace layer_check;
using op_check::error_of;

/// Of block 1 of three with bounds of its own, or of the only one.
std::unique_ptr<Mixer> mixer_of(bool causal, bool above_a_bound) {
  MixerSpec spec;
  spec.kind = "hgrn2";
  spec.width = 8, spec.heads = 2, spec.chunk = 4;
  spec.causal = causal;
  if (above_a_bound) spec.place = {1, 3, std::make_shared<StackPlace::Shared>()};
  auto mixer = mixers().make("hgrn2", spec);
  randomize(*mixer);
  return mixer;
}

struct Variant {
  bool causal, bound;
};
constexpr Variant variants[] = {{true, false}, {true, true}, {false, false}, {false, true}};

TEST(Hgrn2, IsDifferentiableThroughAllItsParameters) {
  for (const auto [causal, bound] : variants) {
    const auto mixer = mixer_of(causal, bound);
    check_layer(*mixer, random_tensor({2, 7, 8}, 1), [&](Tape& tape, const Var& x) {
      return mixer->forward(tape, x, {.lengths = {7, 4}});
    });
  }
}

TEST(Hgrn2, StepByStepEqualsTheBatch) {
  for (bool bound : {false, true}) {
    const auto mixer = mixer_of(true, bound);
    const std::size_t T = 30;
    const Tensor x = random_tensor({1, T, 8}, 1);
    Tape tape;
    tape.recording = false;
    const Tensor batch = mixer->forward(tape, x).value();
    const auto state = mixer->start();
    for (std::size_t t = 0; t < T; ++t) {
      Tensor token = uninitialized({1, 1, 8});
      std::copy_n(x.data() + t * 8, 8, token.data());
      const Tensor y = mixer->step(tape, token, *state).value();
      for (std::size_t e = 0; e < 8; ++e)
        ASSERT_NEAR(y.data()[e], batch.data()[t * 8 + e], is_double ? 1e-12 : 2e-5) << t;
    }
    EXPECT_EQ(state->position, T);
  }
}

TEST(Hgrn2, NeverShowsTheFutureToTheBitAndPaddingNothing) {
  for (const auto [causal, bound] : variants) {
    const auto mixer = mixer_of(causal, bound);
    Tensor x = random_tensor({1, 20, 8}, 1);
    Tape tape;
    tape.recording = false;
    const Layout layout{.lengths = {13}};
    const Tensor before = mixer->forward(tape, x, causal ? Layout{} : layout).value();
    for (std::size_t i = 13 * 8; i < x.size(); ++i) x.data()[i] += real(3.3);
    const Tensor after = mixer->forward(tape, x, causal ? Layout{} : layout).value();
    EXPECT_EQ(std::memcmp(after.data(), before.data(), 13 * 8 * sizeof(real)), 0);
    Tensor alone = uninitialized({1, 13, 8});
    std::copy_n(x.data(), alone.size(), alone.data());
    const Tensor y = mixer->forward(tape, alone).value();
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_NEAR(y.data()[i], after.data()[i], is_double ? 1e-12 : 2e-5);
  }
}

/// In both directions the reversed sequence gives the reversed output: a token counts once, so that
/// neither direction is more than the other.
TEST(Hgrn2, TreatsBothDirectionsAlike) {
  const auto mixer = mixer_of(false, true);
  const std::size_t T = 11;
  const Tensor x = random_tensor({1, T, 8}, 1);
  Tensor reversed = x;
  for (std::size_t t = 0; t < T; ++t)
    std::copy_n(x.data() + t * 8, 8, reversed.data() + (T - 1 - t) * 8);
  Tape tape;
  tape.recording = false;
  const Tensor a = mixer->forward(tape, x).value(), b = mixer->forward(tape, reversed).value();
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a.data()[i], b.data()[(T - 1 - i / 8) * 8 + i % 8], is_double ? 1e-12 : 2e-5);
}

TEST(LowerBounds, RiseFromBlockToBlock) {
  LowerBounds bounds(5, 3);
  Tape tape;
  for (std::size_t l = 0; l < 5; ++l) {
    const Tensor g = bounds.of(tape, l).value();
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(g.data()[i], double(l) / 5, 1e-6);
  }
  randomize(bounds);
  Tensor below = zeros({3});
  for (std::size_t l = 1; l < 5; ++l) {
    const Tensor g = bounds.of(tape, l).value();
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_GT(g.data()[i], below.data()[i]);
      EXPECT_LT(g.data()[i], 1);
    }
    below = g;
  }
}

/// One parameter of all blocks, which every block above the first moves, recomputed or not.
TEST(LowerBounds, AreSharedByTheBlocksOfAStack) {
  for (bool checkpoint : {false, true}) {
    StackSpec spec;
    spec.blocks = 3;
    spec.checkpoint = checkpoint;
    spec.block.width = 8, spec.block.mixer.heads = 2;
    spec.block.mixer.kind = "hgrn2";
    BlockStack stack(spec);
    initialize(stack, 1);
    const std::vector<std::string> names = names_of(stack);
    EXPECT_EQ(std::ranges::count_if(
                  names, [](const std::string& name) { return name.ends_with("logits"); }),
              1);
    EXPECT_THAT(names, testing::Contains("blocks.0.mixer.lower_bounds.logits"));
    check_layer(stack, random_tensor({1, 5, 8}, 1),
                [&](Tape& tape, const Var& x) { return stack.forward(tape, x); });
  }
}

TEST(Hgrn2, RefusesWhatItHasNot) {
  MixerSpec spec;
  spec.kind = "hgrn2", spec.width = 8, spec.heads = 2;
  spec.rotary = true;
  EXPECT_THAT(error_of([&] { mixers().make("hgrn2", spec); }),
              testing::HasSubstr("leave them out"));
}

TEST(Stack, RefusesTwoDirectionsWhereTheFutureIsToBePredicted) {
  StackSpec spec;
  spec.block.mixer.directions = 2;
  EXPECT_EQ(error_of([&] { BlockStack{spec}; }),
            "[mixer] directions = 2 shows tokens what follows, which this model is to predict; "
            "choose 1");
  EXPECT_FALSE(in_both_directions(spec).block.mixer.causal);
  spec.block.mixer.directions = 1;
  EXPECT_TRUE(in_both_directions(spec).block.mixer.causal);
}

}  // namespace hgrn2_test
}  // namespace bochner::inline BOCHNER_PRECISION
