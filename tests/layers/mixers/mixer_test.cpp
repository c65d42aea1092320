#include <bochner/layers/mixers/mixer.hpp>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace mixer_test {

/// Gaps of real tokens; padding and the last token get 1.
TEST(Layout, SeenFromTheEndHasTheGapsToTheTokensBehind) {
  Layout layout{.lengths = {4, 2, 0}, .gaps = uninitialized({3, 4})};
  for (std::size_t i = 0; i < 12; ++i) layout.gaps.data()[i] = real(10 + i);
  const Layout seen = reversed_layout(layout);
  const double wanted[] = {11, 12, 13, 1, 15, 1, 1, 1, 1, 1, 1, 1};
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(seen.gaps.data()[i], wanted[i]) << i;
  EXPECT_EQ(seen.lengths, layout.lengths);
  layout.lengths = {};
  EXPECT_EQ(reversed_layout(layout).gaps(2, 2), 21);
}

/// A mixer for whole sequences overrides no steps.
TEST(Mixer, WithoutStepsSaysSo) {
  struct Whole : Mixer {
    Var forward(Tape&, const Var& x, const Layout&) override { return x; }
    void visit(Visitor&) override {}
  } mixer;
  Tape tape;
  MixerState state;
  EXPECT_THROW(mixer.start(), NoSteps);
  EXPECT_THROW(mixer.step(tape, Var(zeros({1, 1, 2})), state), NoSteps);
}

}  // namespace mixer_test
}  // namespace bochner::inline BOCHNER_PRECISION
