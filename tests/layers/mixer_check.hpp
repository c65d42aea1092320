#pragma once
/// Checks of mixers: streaming, padding, causality.

#include <bochner/layers/mixers/mixer.hpp>
#include <cstring>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace layer_check {

inline constexpr double rounding = is_double ? 1e-12 : 2e-5;

/// Runs without recording. (B, T, D) -> (B, T, D)
inline Tensor output_of(Mixer& mixer, const Tensor& x, const Layout& layout = {}) {
  Tape tape({.recording = false});
  return mixer.forward(tape, x, layout).value();
}

/// Returns token t of each sequence. (B, T, D) -> (B, 1, D)
inline Tensor tokens_at(const Tensor& x, std::size_t t) {
  const std::size_t B = x.shape()[0], T = x.shape()[1], D = x.shape()[2];
  Tensor tokens = uninitialized({B, 1, D});
  for (std::size_t b = 0; b < B; ++b)
    std::copy_n(x.data() + (b * T + t) * D, D, tokens.data() + b * D);
  return tokens;
}

/// Runs token by token, at the gaps of the layout's first sequence, if any. (B, T, D) -> (B, T, D)
inline Tensor streamed(Mixer& mixer, const Tensor& x, const Layout& layout = {}) {
  const std::size_t B = x.shape()[0], T = x.shape()[1], D = x.shape()[2];
  Tape tape({.recording = false});
  Tensor y = uninitialized(x.shape());
  const std::unique_ptr<MixerState> state = mixer.start();
  for (std::size_t t = 0; t < T; ++t) {
    if (!layout.regular()) state->gap = double(layout.gaps(0, t));
    const Tensor one = mixer.step(tape, tokens_at(x, t), *state).value();
    EXPECT_EQ(one.shape(), (Shape{B, 1, D}));
    for (std::size_t b = 0; b < B; ++b)
      std::copy_n(one.data() + b * D, D, y.data() + (b * T + t) * D);
  }
  EXPECT_EQ(state->position, T);
  return y;
}

inline void expect_stream_equals_batch(Mixer& mixer, const Tensor& x, double tolerance = rounding,
                                       const Layout& layout = {}) {
  const Tensor batch = output_of(mixer, x, layout), stream = streamed(mixer, x, layout);
  const std::size_t D = x.shape()[2];
  for (std::size_t i = 0; i < batch.size(); ++i)
    ASSERT_NEAR(stream.data()[i], batch.data()[i], tolerance) << "token " << i / D;
}

/// Expects padded sequences of these lengths to equal separate ones.
inline void expect_padding_changes_nothing(Mixer& mixer, std::size_t width,
                                           const std::vector<std::size_t>& lengths, std::size_t T,
                                           double tolerance = rounding) {
  const Tensor x = random_tensor({lengths.size(), T, width}, 1);
  const Tensor padded = output_of(mixer, x, {.lengths = lengths});
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    if (lengths[b] == 0) continue;
    Tensor alone = uninitialized({1, lengths[b], width});
    std::copy_n(x.data() + b * T * width, alone.size(), alone.data());
    const Tensor y = output_of(mixer, alone);
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_NEAR(padded.data()[b * T * width + i], y.data()[i], tolerance) << "sequence " << b;
  }
}

/// Expects later tokens to change no bit of earlier outputs, and every token to change its own
/// output.
inline void expect_past_only(Mixer& mixer, std::size_t width, std::size_t T) {
  Tensor x = random_tensor({1, T, width}, 1);
  const Tensor before = output_of(mixer, x);
  const auto same = [&](const Tensor& after, std::size_t tokens) {
    return std::memcmp(after.data(), before.data(), tokens * width * sizeof(real)) == 0;
  };
  for (std::size_t t = T - 1; t > 0; t -= std::min<std::size_t>(t, 3)) {
    for (std::size_t e = 0; e < width; ++e) x.data()[t * width + e] += real(3.3);
    const Tensor after = output_of(mixer, x);
    ASSERT_TRUE(same(after, t)) << t;
    ASSERT_FALSE(same(after, t + 1)) << t;
  }
}

}  // namespace layer_check
}  // namespace bochner::inline BOCHNER_PRECISION
