#pragma once

#include <algorithm>
#include <bochner/autodiff/tape.hpp>
#include <cmath>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns the largest difference between batch and token-by-token logits, relative to the largest
/// logit. Above rounding if a mixer sees later tokens or step() differs from forward(). tokens (B,
/// T)
template <class LanguageModel>
double step_error(LanguageModel& model, const Indices& tokens) {
  const std::size_t B = tokens.shape[0], T = tokens.shape[1];
  Tape tape({.recording = false});
  const Tensor batch = model.logits(tape, tokens).value();  // (B, T, V)
  const std::size_t V = batch.shape()[2];
  auto state = model.start();
  double largest = 0, max_error = 0;
  for (std::size_t t = 0; t < T; ++t) {
    std::vector<std::int32_t> now;
    for (std::size_t b = 0; b < B; ++b) now.push_back(tokens.values[b * T + t]);
    const Tensor stepped = model.step(now, state);  // (B, V)
    for (std::size_t i = 0; i < B * V; ++i) {
      const double expected = double(batch.data()[(i / V * T + t) * V + i % V]),
                   found = double(stepped.data()[i]);
      if (!std::isfinite(found - expected)) return std::abs(found - expected);
      largest = std::max(largest, std::abs(expected));
      max_error = std::max(max_error, std::abs(found - expected));
    }
  }
  return largest > 0 ? max_error / largest : max_error;
}

}  // namespace bochner::inline BOCHNER_PRECISION
