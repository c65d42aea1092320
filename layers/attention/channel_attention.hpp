#pragma once
/// Linear attention computed by the sums of gated_linear_attention(): for decay rates per channel
/// of the keys, and for both directions.

#include <bochner/autodiff/ops/sequence.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Computes out_i = sum_j (sum_f phi_f(q_i) phi_f(k_j) kappa_fij) v_j, divided by the same sum with
/// v = 1, over j <= i, or over all j if not options.causal. kappa_fij = exp(-rate_f (i - j)) for j
/// <= i, with sums of rates for rates per token; for j > i it is that of the reversed sequence. A
/// token counts itself once (LION; Afzal et al., 2025). Divisors below options.floor are raised to
/// it. q, k (B, T, H, F) features, v (B, T, H, d), rate >= 0 (H, F), (B, T, H, F), (H) or (B, T,
/// H); `reverse_rate` of the reversed sequence, if gaps in time make it differ. -> (B, T, H, d)
Var channel_attention(const Features& q, const Features& k, const Var& v, const Var& rate,
                      const LinearAttentionOptions& options, const Var& reverse_rate = {});

/// State of causal channel attention for one sequence.
struct ChannelState {
  Tensor sums;                    ///< (H, F, d + 1), relative to exp(log_scale)
  std::vector<double> log_scale;  ///< (H, F)
};

/// Processes one token; equals the batch output. q, k (1, 1, H, F), v (1, 1, H, d), rate (H, F) or
/// (1, 1, H, F) -> (1, 1, H, d). A state without sums is an empty past.
Var channel_attention_step(ChannelState& state, const Features& q, const Features& k, const Var& v,
                           const Var& rate, real floor);

}  // namespace bochner::inline BOCHNER_PRECISION
