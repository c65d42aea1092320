#pragma once
/// What the backward of an attention op fills in and hands to its inputs.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Gradients of q, k and v, and of the rate of each head per sequence, (B, H), in double.
struct AttentionGradients {
  Tensor q, k, v;
  std::vector<double> rate;

  AttentionGradients(const Shape& features, const Shape& values)
      : q(uninitialized(features)),
        k(uninitialized(features)),
        v(uninitialized(values)),
        rate(values[0] * values[2]) {}

  /// The rates' gradients are joined over the sequences in order.
  void hand_to(const Var& q_input, const Var& k_input, const Var& v_input, const Var& rate_input) {
    q_input.add_gradient(std::move(q));
    k_input.add_gradient(std::move(k));
    v_input.add_gradient(std::move(v));
    if (!rate_input.needs_gradient()) return;
    const std::size_t H = rate_input.size();
    Tensor total = uninitialized({H});
    for (std::size_t h = 0; h < H; ++h) {
      double sum = 0;
      for (std::size_t task = h; task < rate.size(); task += H) sum += rate[task];
      total.data()[h] = real(sum);
    }
    rate_input.add_gradient(std::move(total));
  }
};

}  // namespace bochner::inline BOCHNER_PRECISION
