#pragma once
/// Linear attention whose past fades at a rate of its own in every channel of the keys.

#include <bochner/autodiff/tape.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct GatedLinearAttentionOptions {
  std::size_t chunk = 64;  ///< tokens handled at once: speed only, no bit depends on it
  /// Tokens of each sequence (B), or empty for T: those behind have zero outputs and no gradient.
  std::vector<std::size_t> lengths = {};
  /// From the last token of each sequence to its first: what a token sees is its future.
  bool reverse = false;
  /// A token does not see itself: two passes, one of them reversed and strict, count it once.
  bool strict = false;
};

/// S_t = diag(exp(log_decay_t)) S_(t-1) + k_t v_t^T, y_t = S_t^T q_t: sums of values, not divided
/// by any weights. log_decay <= 0, (H, F) or of each token (B, T, H, F), may be -infinity. q, k (B,
/// T, H, F), v (B, T, H, d) -> (B, T, H, d). O(T F d) and nothing kept but the inputs: the state is
/// computed again in the backward pass, which holds one for every 1,024 tokens of the sequence that
/// it works on. No decay can overflow, since none is ever divided by.
/// Yang et al., "Gated linear attention", 2024.
Var gated_linear_attention(const Var& q, const Var& k, const Var& v, const Var& log_decay,
                           const GatedLinearAttentionOptions& options = {});

/// One token after `state` (H, F, d), zeros before the first, which moves on by it; equals the
/// op to the bit. q, k, log_decay (H, F), v (H, d) -> (H, d)
Tensor gated_linear_attention_step(Tensor& state, const Tensor& q, const Tensor& k, const Tensor& v,
                                   const Tensor& log_decay);

}  // namespace bochner::inline BOCHNER_PRECISION
