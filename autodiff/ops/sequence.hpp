#pragma once
/// Sequence mixing: exact softmax attention in blocks, linear attention over features in chunks,
/// rotary positions. Heads stay where they are: q, k, v are (B, T, H, ..) and nothing is
/// transposed.

#include <bochner/autodiff/ops/features.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// softmax(q k^T / sqrt(d) - rate lag) v per head, in blocks: memory is linear in T.
/// `rate` (H) is the slope of each head's linear penalty on lag = |i - j| (ALiBi); with `rate` (B,
/// T, H) >= 0 the penalty is rate_(j+1) + .. + rate_i, steps of irregular time; leave it out for
/// none. `lengths` (B): tokens from lengths[b] on are padding, as if they were not there; their
/// outputs are zero. Leave it out for none. q, k, v (B, T, H, d) -> (B, T, H, d). Dao et al.,
/// "FlashAttention", 2022; Press et al., "ALiBi", 2022.
Var softmax_attention(const Var& q, const Var& k, const Var& v, const Var& rate, bool causal,
                      const std::vector<std::size_t>& lengths = {});

/// Causal softmax attention over the last `window` tokens, the token itself among them, as a part
/// of a larger sum: a mean of values (d) and behind it the logarithm of its weights' sum, (d + 1).
/// Logits are q . k / sqrt(d) + rate (window - lag), `rate` (H) as above: relative to a token that
/// has just left the window. q, k, v (B, T, H, d) -> (B, T, H, d + 1).
Var local_attention(const Var& q, const Var& k, const Var& v, const Var& rate, std::size_t window,
                    const std::vector<std::size_t>& lengths = {});

struct LinearAttentionOptions {
  bool causal = true;
  std::size_t chunk = 32;  ///< tokens per chunk: speed only, the result is the same up to rounding
  /// Tokens of each sequence, (B), or empty for T: what lies beyond has no weight as a key, a zero
  /// output as a query, and no gradient.
  std::vector<std::size_t> lengths = {};
  /// Sums of weights below it are raised to it, and pass no gradient: for signed features, whose
  /// sums may vanish. 0 for none; of linear features only.
  real floor = 0;
  /// Tokens of the spans that a long sequence of few heads is cut into: speed only, the result is
  /// the same up to rounding. 0 for a number that follows from the sizes.
  std::size_t span = 0;
};

/// out_i = sum_j (phi(q_i) . phi(k_j)) kappa_ij v_j / the same sum with v = 1, over j <= i if
/// causal. kappa_ij = exp(-rate (i - j)) for `rate` (H) = 1 / tau, a Cauchy density on the lag
/// axis; exp(-(rate_(j+1) + .. + rate_i)) for `rate` (B, T, H), steps of irregular time or gates;
/// 1 where it is left out. A rate needs causal attention.
/// `beside` (B, T, H, d + 1), of causal attention with positive features: what each token sees
/// besides, a mean (d) and the logarithm of its weights' sum; see local_attention().
/// q, k (B, T, H, F) features, v (B, T, H, d) -> (B, T, H, d). O(T F d) in chunks with a running
/// state (F, d), Katharopoulos et al. 2020 in chunked form.
Var linear_attention(const Features& q, const Features& k, const Var& v, const Var& rate,
                     const LinearAttentionOptions& options, const Var& beside = {});

/// What causal linear attention remembers of the heads of all sequences: sums over the past in
/// units of exp(log_unit), which is double: slow decay takes less from it than a float would see.
struct LinearAttentionState {
  Tensor weighted_values;        ///< (B H, F, d)
  Tensor weights;                ///< (B H, F)
  std::vector<double> log_unit;  ///< (B H)
  LinearAttentionState(std::size_t heads, std::size_t features, std::size_t dim);
};

/// One token of each sequence: the output of causal linear attention at the next position. q, k
/// (B, 1, H, F) features, v (B, 1, H, d) -> (B, 1, H, d). `rate` (B H) and `beside` (B H, d + 1)
/// may be null. Constant memory and time per token.
Tensor linear_attention_step(LinearAttentionState& state, const Features& q, const Features& k,
                             const Var& v, const Tensor* rate, real floor = 0,
                             const Tensor* beside = nullptr);

/// Rotates the pairs (x[i], x[i + d/2]) of each head by position * base^(-2i/d), position counting
/// from `first`. (B, T, H, d) -> (B, T, H, d), d even. Su et al., "RoFormer", 2021.
Var rotary(const Var& x, std::size_t first = 0, double base = 10000);

/// y_t = sum_j w_j x_(t-j) for each channel, tokens before the first being zero: a causal depthwise
/// convolution over the last K tokens. It goes token by token over all channels, which for 3 or 4
/// taps takes less than half the time of the direct sums of long_convolution(), that bring channels
/// into lanes and back, and for 8 three quarters (bench/convolution_bench); conv1d() with as many
/// groups as channels has strides and padding in place of the causal end. x (B, T, D), w (K, D) ->
/// (B, T, D)
Var short_convolution(const Var& x, const Var& w);

}  // namespace bochner::inline BOCHNER_PRECISION
