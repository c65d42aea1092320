#pragma once
/// Linear attention with error correction: the gated delta rule over features.

#include <bochner/autodiff/ops/features.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct DeltaRuleOptions {
  std::size_t chunk = 32;  ///< tokens per chunk: speed only, the result is the same up to rounding
  /// Tokens per sequence (B), or empty for T. Tokens beyond write nothing; output, gradient zero.
  std::vector<std::size_t> lengths = {};
  bool reverse = false;  ///< from the last token of each sequence to its first
};

/// Applies, with u(x) = phi(x) / |phi(x)| and S = 0, token by token: S <- exp(-rate) S, S <- S +
/// strength u(k) (v - S^T u(k))^T, out = S^T u(q). Strengths in [0, 2] never let S grow. Unit
/// length keeps the rule stable; features and logarithms of any size are safe. Vanishing features
/// (in float, shorter than 4e-18) neither write nor read.
/// A rate per channel multiplies that row of S (Kimi Team, "Kimi linear", 2025).
/// q, k (B, T, H, F) features, v (B, T, H, d), strength (B, T, H), rate >= 0 (H), (H, F), (B, T,
/// H), (B, T, H, F) or none -> (B, T, H, d). O(T F d) in chunks, of at most 16 tokens with channel
/// rates, and a running state (F, d). With gradients, each head stores sqrt(T / chunk) states or an
/// eighth of the size of q, k and v, whichever is more.
/// Yang, Kautz, Hatamizadeh, "Gated delta networks", 2025, in a form that solves for the written
/// values, (C, d), and never forms W = T K.
Var delta_rule(const Features& q, const Features& k, const Var& v, const Var& strength,
               const Var& rate, const DeltaRuleOptions& options = {});

/// State of the rule, (H, F, d), zero at the start: H heads of one sequence, or B H of several.
struct DeltaRuleState {
  Tensor values;
  DeltaRuleState(std::size_t heads, std::size_t features, std::size_t dim)
      : values(zeros({heads, features, dim})) {}
};

/// Processes one token and returns its output. q, k (H, F), v (H, d), strength (H), `rate` (H), (H,
/// F) or null -> (H, d). Constant memory and time per token.
Tensor delta_rule_step(DeltaRuleState& state, const Tensor& q, const Tensor& k, const Tensor& v,
                       const Tensor& strength, const Tensor* rate, FeatureScale scale);

}  // namespace bochner::inline BOCHNER_PRECISION
