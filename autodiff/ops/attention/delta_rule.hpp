#pragma once
/// Linear attention that corrects what it remembers: the gated delta rule over features.

#include <bochner/autodiff/ops/features.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct DeltaRuleOptions {
  std::size_t chunk = 32;  ///< tokens per chunk: speed only, the result is the same up to rounding
  /// Tokens of each sequence, (B), or empty for T: what lies beyond writes nothing, has a zero
  /// output and no gradient.
  std::vector<std::size_t> lengths = {};
  bool reverse = false;  ///< from the last token of each sequence to its first
};

/// With u(x) = phi(x) / |phi(x)|, from S = 0 and token by token: S <- exp(-rate) S, then S <- S +
/// strength u(k) (v - S^T u(k))^T, and out = S^T u(q). A strength in [0, 2] never lets S grow.
/// Unit length is what keeps the rule stable; features and logarithms of any size are safe.
/// Features that all vanish, in float those shorter than 4e-18, neither write nor read.
/// A rate of each channel multiplies that row of S (Kimi Team, "Kimi linear", 2025).
/// q, k (B, T, H, F) features, v (B, T, H, d), strength (B, T, H), rate >= 0 (H), (H, F), (B, T, H)
/// or (B, T, H, F), or left out for none -> (B, T, H, d). O(T F d) in chunks, of at most 16 tokens
/// with rates of channels, and a running state (F, d). Where a gradient is wanted, each head keeps
/// sqrt(T / chunk) states or an eighth of the size of q, k and v, whatever is more.
/// Yang, Kautz, Hatamizadeh, "Gated delta networks", 2025, in a form that solves for the values
/// written, (C, d), and never makes W = T K.
Var delta_rule(const Features& q, const Features& k, const Var& v, const Var& strength,
               const Var& rate, const DeltaRuleOptions& options = {});

/// What the rule remembers of one sequence: (H, F, d), zero at its start.
struct DeltaRuleState {
  Tensor values;
  DeltaRuleState(std::size_t heads, std::size_t features, std::size_t dim)
      : values(zeros({heads, features, dim})) {}
};

/// One token: the output of the rule at the next position. q, k (H, F), v (H, d), strength (H),
/// `rate` (H), (H, F) or null -> (H, d). Constant memory and time per token.
Tensor delta_rule_step(DeltaRuleState& state, const Tensor& q, const Tensor& k, const Tensor& v,
                       const Tensor& strength, const Tensor* rate, FeatureScale scale);

}  // namespace bochner::inline BOCHNER_PRECISION
