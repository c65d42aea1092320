#include <gmock/gmock.h>

#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>

#include "layers/mixer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace delta_mixer_test {

using namespace layer_check;

constexpr std::size_t D = 8;

std::unique_ptr<Mixer> delta_mixer(const std::string& time_kernel, bool causal = true,
                                   const DeltaSpec& delta = {}) {
  MixerSpec spec;
  spec.kind = "linear", spec.update = "delta";
  spec.width = D, spec.heads = 2, spec.causal = causal;
  spec.features.kind = "fourier", spec.features.m = 6;
  spec.time_kernel = {time_kernel, 2, 30};
  spec.chunk = 4;
  spec.delta = delta;
  auto mixer = mixers().make(spec.kind, spec);
  randomize(*mixer);
  return mixer;
}

const DeltaSpec several{.negative = true, .two_gates = true, .steps = 3};

TEST(DeltaMixer, StreamsAtIrregularTimes) {
  const std::size_t T = 21;
  const Tensor x = random_tensor({1, T, D}, 1);
  Tensor gaps = random_tensor({1, T}, 2);
  for (real& gap : gaps) gap = 3 * gap * gap;
  for (const char* time : {"decay", "gate", "several"}) {
    const auto mixer =
        time == std::string("several") ? delta_mixer("gate", true, several) : delta_mixer(time);
    const Tensor batch = output_of(*mixer, x, {.gaps = gaps});
    EXPECT_GT(std::abs(batch.data()[10 * D] - output_of(*mixer, x).data()[10 * D]), 1e-4);
    expect_stream_equals_batch(*mixer, x, rounding, {.gaps = gaps});
  }
}

/// Reverses the first `length` tokens.
Tensor reversed_tokens(const Tensor& x, std::size_t length) {
  Tensor y = uninitialized({1, length, D});
  for (std::size_t t = 0; t < length; ++t)
    std::copy_n(x.data() + t * D, D, y.data() + (length - 1 - t) * D);
  return y;
}

TEST(DeltaMixer, TreatsBothDirectionsAlike) {
  const Tensor x = random_tensor({1, 21, D}, 1);
  for (const char* time : {"none", "decay", "gate", "several"}) {
    const auto mixer = time == std::string("several") ? delta_mixer("decay", false, several)
                                                      : delta_mixer(time, false);
    const Tensor padded = output_of(*mixer, x, {.lengths = {18}});
    const Tensor other = reversed_tokens(output_of(*mixer, reversed_tokens(x, 18)), 18);
    for (std::size_t i = 0; i < other.size(); ++i)
      ASSERT_NEAR(other.data()[i], padded.data()[i], op_check::is_double ? 1e-12 : 1e-4);
    Tape tape;
    const auto state = mixer->start();
    EXPECT_THAT(op_check::error_of([&] {
                  mixer->step(tape, zeros({1, 1, D}), *state);
                }),
                testing::HasSubstr("step() requires a causal mixer"));
  }
}

TEST(DeltaMixer, SeesTheSameTimeFromBothEnds) {
  const std::size_t T = 9;
  const Tensor x = random_tensor({1, T, D}, 1);
  Tensor gaps = random_tensor({1, T}, 2), reversed_gaps = zeros({1, T});
  for (real& gap : gaps) gap = std::abs(gap);
  for (std::size_t t = 1; t < T; ++t) reversed_gaps(0, t) = gaps(0, T - t);
  const auto mixer = delta_mixer("decay", false);
  const Tensor a = output_of(*mixer, x, {.gaps = gaps});
  const Tensor b =
      reversed_tokens(output_of(*mixer, reversed_tokens(x, T), {.gaps = reversed_gaps}), T);
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a.data()[i], b.data()[i], op_check::is_double ? 1e-12 : 1e-4);
}

TEST(DeltaMixer, IsDifferentiableWithSeveralWrites) {
  for (const bool causal : {true, false}) {
    const auto mixer = delta_mixer("gate", causal, several);
    check_layer(*mixer, random_tensor({2, 5, D}, 1),
                [&](Tape& tape, const Var& x) { return mixer->forward(tape, x, {}); });
  }
}

TEST(DeltaMixer, HasNeitherWindowNorWarmStart) {
  MixerSpec spec;
  spec.kind = "linear", spec.update = "delta", spec.window = 4;
  EXPECT_THAT(op_check::error_of([&] { mixers().make("linear", spec); }),
              testing::HasSubstr("supports neither a window nor a warm start"));
  spec.window = 0, spec.update = "product";
  EXPECT_EQ(op_check::error_of([&] { mixers().make("linear", spec); }),
            "[mixer] update = \"product\"; there are: sum, delta");
}

}  // namespace delta_mixer_test
}  // namespace bochner::inline BOCHNER_PRECISION
