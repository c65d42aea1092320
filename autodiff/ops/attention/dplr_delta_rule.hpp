#pragma once
/// Linear attention with a transition that is diagonal plus rank one: the generalized delta rule.

#include <bochner/autodiff/tape.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct DplrDeltaRuleOptions {
  std::size_t chunk = 16;  ///< tokens per chunk, at most 16: speed only, results differ by rounding
  /// Tokens per sequence (B), or empty for T. Tokens beyond have zero output and gradient.
  std::vector<std::size_t> lengths = {};
  bool reverse = false;  ///< from the last token of each sequence to its first
};

/// Applies, from S = 0 and token by token, S <- diag(exp(-rate)) S + b (S^T a)^T + k v^T, out = S^T
/// q: keys that read the past (a), that add what they read (b) and that write (k) are separate. The
/// delta rule of key u and strength s without decay is a = -s u, b = u, k = s u. Transitions are
/// not bounded: |S| may grow unless a, b and rate prevent it.
/// q, k, a, b (B, T, H, F), v (B, T, H, d), rate (B, T, H, F) from 0 to 4, so that products over a
/// chunk can be divided by -> (B, T, H, d). O(T F d) in chunks and a running state (F, d); with
/// gradients, stores the state of every chunk.
/// Peng et al., "RWKV-7 Goose", 2025; Yang et al., "Parallelizing linear transformers with the
/// delta rule", 2024, for the chunks.
Var dplr_delta_rule(const Var& q, const Var& k, const Var& v, const Var& a, const Var& b,
                    const Var& rate, const DplrDeltaRuleOptions& options = {});

/// Processes one token of each sequence and updates `state` (H, F, d), zeros before the first: H
/// heads of one sequence, or B H of several. q, k, a, b, rate (H, F), v (H, d) -> (H, d)
Tensor dplr_delta_rule_step(Tensor& state, const Tensor& q, const Tensor& k, const Tensor& v,
                            const Tensor& a, const Tensor& b, const Tensor& rate);

}  // namespace bochner::inline BOCHNER_PRECISION
