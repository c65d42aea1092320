#pragma once
/// Attention over all pairs of tokens as separate ops, for tangents. Stores (B, H, T, T).

#include <bochner/autodiff/ops/sequence.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns softmax_attention().
Var softmax_attention_by_ops(const Var& q, const Var& k, const Var& v, const Var& rate, bool causal,
                             const std::vector<std::size_t>& lengths);
/// Returns local_attention() of sequences without padding.
Var local_attention_by_ops(const Var& q, const Var& k, const Var& v, const Var& rate,
                           std::size_t window);
/// Returns linear_attention().
Var linear_attention_by_ops(const Features& q, const Features& k, const Var& v, const Var& rate,
                            const LinearAttentionOptions& options, const Var& extra);

}  // namespace bochner::inline BOCHNER_PRECISION
