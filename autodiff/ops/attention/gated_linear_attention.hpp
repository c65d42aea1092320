#pragma once
/// Linear attention with a decay per channel of the keys.

#include <bochner/autodiff/tape.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct GatedLinearAttentionOptions {
  std::size_t chunk = 64;  ///< tokens handled at once: speed only, results are bit-equal
  /// Tokens per sequence (B), or empty for T: tokens beyond have zero output and gradient.
  std::vector<std::size_t> lengths = {};
  /// Runs from the last token of each sequence to its first.
  bool reverse = false;
  /// Excludes a token's own value: two passes, one of them reversed and strict, count it once.
  bool strict = false;
};

/// Computes S_t = diag(exp(log_decay_t)) S_(t-1) + k_t v_t^T, y_t = S_t^T q_t, not normalised.
/// log_decay <= 0, (H, F) or per token (B, T, H, F), may be -infinity. q, k (B, T, H, F), v (B, T,
/// H, d) -> (B, T, H, d). O(T F d) and stores only the inputs: the backward pass recomputes the
/// state and holds one per 1,024 tokens of its current sequence. Never divides by decays, so none
/// can overflow.
/// Yang et al., "Gated linear attention", 2024.
Var gated_linear_attention(const Var& q, const Var& k, const Var& v, const Var& log_decay,
                           const GatedLinearAttentionOptions& options = {});

/// Processes one token of each sequence and updates `state` (.., F, d), zeros before the first;
/// bit-equal to the op. The leading axes are heads (H) or sequences and heads (B, H). q, k,
/// log_decay (.., F), v (.., d) -> (.., d)
Tensor gated_linear_attention_step(Tensor& state, const Tensor& q, const Tensor& k, const Tensor& v,
                                   const Tensor& log_decay);

}  // namespace bochner::inline BOCHNER_PRECISION
