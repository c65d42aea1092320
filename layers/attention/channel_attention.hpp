#pragma once
/// Linear attention by the sums of gated_linear_attention(): rates per channel of the keys, and
/// both directions.

#include <bochner/autodiff/ops/sequence.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// out_i = sum_j (sum_f phi_f(q_i) phi_f(k_j) kappa_fij) v_j / the same sum with v = 1, over j <=
/// i, or over all j where options.causal is false: kappa_fij = exp(-rate_f (i - j)) for j <= i,
/// with sums of rates in place of products where they are of tokens, and the same of the reversed
/// sequence for j > i; a token itself counts once (LION; Afzal et al., 2025).
/// rate >= 0: (H, F) or (B, T, H, F), or of heads (H) or (B, T, H). Sums below options.floor are
/// raised to it. `reverse_rate`: of the reversed sequence, where steps of irregular time make it
/// another. q, k (B, T, H, F) features, v (B, T, H, d) -> (B, T, H, d)
Var channel_attention(const Features& q, const Features& k, const Var& v, const Var& rate,
                      const LinearAttentionOptions& options, const Var& reverse_rate = {});

/// What its causal form remembers of one sequence.
struct ChannelState {
  Tensor sums;               ///< (H, F, d + 1), in units of exp(unit)
  std::vector<double> unit;  ///< (H, F), of logarithms of features
};

/// One token, equal to the batch's: q, k (1, 1, H, F), v (1, 1, H, d), rate (H, F) or (1, 1, H, F)
/// -> (1, 1, H, d). A state without sums is an empty past.
Var channel_attention_step(ChannelState& state, const Features& q, const Features& k, const Var& v,
                           const Var& rate, real floor);

}  // namespace bochner::inline BOCHNER_PRECISION
