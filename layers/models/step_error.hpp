#pragma once

#include <algorithm>
#include <bochner/autodiff/tape.hpp>
#include <cmath>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// The largest difference between the logits of texts and those of their tokens one by one,
/// relative to the largest logit: that of rounding, unless a mixer sees what is to come, or its
/// step() is not its forward(). tokens (B, T)
template <class LanguageModel>
double step_error(LanguageModel& model, const Indices& tokens) {
  const std::size_t B = tokens.shape[0], T = tokens.shape[1];
  Tape tape({.recording = false});
  const Tensor whole = model.logits(tape, tokens).value();  // (B, T, V)
  const std::size_t V = whole.shape()[2];
  auto state = model.start();
  double largest = 0, apart = 0;
  for (std::size_t t = 0; t < T; ++t) {
    std::vector<std::int32_t> now;
    for (std::size_t b = 0; b < B; ++b) now.push_back(tokens.values[b * T + t]);
    const Tensor stepped = model.step(now, state);  // (B, V)
    for (std::size_t i = 0; i < B * V; ++i) {
      const double expected = double(whole.data()[(i / V * T + t) * V + i % V]),
                   found = double(stepped.data()[i]);
      if (!std::isfinite(found - expected)) return std::abs(found - expected);
      largest = std::max(largest, std::abs(expected));
      apart = std::max(apart, std::abs(found - expected));
    }
  }
  return largest > 0 ? apart / largest : apart;
}

}  // namespace bochner::inline BOCHNER_PRECISION
