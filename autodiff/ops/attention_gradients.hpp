#pragma once
/// What the backward of an attention op fills in and hands to its inputs.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Gradients of rates: of each sequence (B, H), which are joined in order for rates (H), or of as
/// many as there are rates.
inline void add_rate_gradient(const Var& rate, const std::vector<double>& by_sequence) {
  if (!rate.needs_gradient()) return;
  const std::size_t count = rate.size();
  Tensor total = uninitialized(rate.shape());
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (std::size_t task = i; task < by_sequence.size(); task += count) sum += by_sequence[task];
    total.data()[i] = real(sum);
  }
  rate.add_gradient(std::move(total));
}

/// Gradients of q, k and v, and of the rate of each head per sequence, (B, H), in double.
struct AttentionGradients {
  Tensor q, k, v;
  std::vector<double> rate;
};

}  // namespace bochner::inline BOCHNER_PRECISION
