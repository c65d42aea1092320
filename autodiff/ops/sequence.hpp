#pragma once
/// Sequence mixing: exact softmax attention in blocks, linear attention over features in chunks,
/// rotary positions. Heads stay in place: q, k, v are (B, T, H, ..), never transposed.

#include <bochner/autodiff/ops/features.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Computes softmax(q k^T / sqrt(d) - rate lag) v per head, in blocks: memory is linear in T.
/// `rate` (H) is each head's linear penalty on lag = |i - j| (ALiBi); with `rate` (B, T, H) >= 0
/// the penalty is rate_(j+1) + .. + rate_i, for irregular time steps; empty for none. Tokens from
/// `lengths` (B) on are padding with zero outputs; empty for none. q, k, v (B, T, H, d) -> (B, T,
/// H, d). Dao et al., "FlashAttention", 2022; Press et al., "ALiBi", 2022.
Var softmax_attention(const Var& q, const Var& k, const Var& v, const Var& rate, bool causal,
                      const std::vector<std::size_t>& lengths = {});

/// Computes causal softmax attention over the last `window` tokens, including the token itself, as
/// a term of a larger softmax: the mean of values (d), then the logarithm of the sum of weights, (d
/// + 1). Logits are q . k / sqrt(d) + rate (window - lag), `rate` (H) as above: relative to a token
/// that has just left the window. q, k, v (B, T, H, d) -> (B, T, H, d + 1)
Var local_attention(const Var& q, const Var& k, const Var& v, const Var& rate, std::size_t window,
                    const std::vector<std::size_t>& lengths = {});

struct LinearAttentionOptions {
  bool causal = true;
  std::size_t chunk = 32;  ///< tokens per chunk: speed only, results differ by rounding
  /// Tokens per sequence (B), or empty for T. Tokens beyond have zero weight, output and gradient.
  std::vector<std::size_t> lengths = {};
  /// Raises smaller sums of weights to this value without gradient: for signed features, whose sums
  /// may vanish. 0 for none; linear features only.
  real floor = 0;
  /// Tokens per span of a long sequence: speed only, results differ by rounding. 0: by the sizes.
  std::size_t span = 0;
};

/// Computes out_i = sum_j (phi(q_i) . phi(k_j)) kappa_ij v_j / the same sum with v = 1, over j <= i
/// if causal. kappa_ij = exp(-rate (i - j)) for `rate` (H) = 1 / tau, a Cauchy density on the lag
/// axis; exp(-(rate_(j+1) + .. + rate_i)) for `rate` (B, T, H), irregular time steps or gates; 1 if
/// empty. A rate requires causal attention.
/// `extra` (B, T, H, d + 1), for causal attention with positive features, adds a term to each
/// token's softmax: a mean (d) and the logarithm of its sum of weights; see local_attention().
/// q, k (B, T, H, F) features, v (B, T, H, d) -> (B, T, H, d). O(T F d) in chunks with a running
/// state (F, d), Katharopoulos et al. 2020 in chunked form. Throws std::underflow_error if weights
/// of features given as logarithms underflow, as those of very sharp kernels may.
Var linear_attention(const Features& q, const Features& k, const Var& v, const Var& rate,
                     const LinearAttentionOptions& options, const Var& extra = {});

/// State of causal linear attention for the heads of all sequences: sums over the past in units of
/// exp(log_unit), double because slow decay removes less per token than float resolves.
struct LinearAttentionState {
  Tensor weighted_values;        ///< (B H, F, d)
  Tensor weights;                ///< (B H, F)
  std::vector<double> log_unit;  ///< (B H)
  LinearAttentionState(std::size_t heads, std::size_t features, std::size_t dim);
};

/// Processes one token of each sequence and returns the output of causal linear attention. q, k (B,
/// 1, H, F) features, v (B, 1, H, d) -> (B, 1, H, d). `rate` (B H) and `extra` (B H, d + 1) may be
/// null. Constant memory and time per token. Throws as linear_attention().
Tensor linear_attention_step(LinearAttentionState& state, const Features& q, const Features& k,
                             const Var& v, const Tensor* rate, real floor = 0,
                             const Tensor* extra = nullptr);

/// Rotates the pairs (x[i], x[i + d/2]) of each head by position * base^(-2i/d), position counting
/// from `first`. (B, T, H, d) -> (B, T, H, d), d even. Su et al., "RoFormer", 2021.
Var rotary(const Var& x, std::size_t first = 0, double base = 10000);

/// Computes y_t = sum_j w_j x_(t-j) per channel with zeros before the first token: a causal
/// depthwise convolution over the last K tokens. Iterates over tokens and all channels, which for 3
/// or 4 taps takes less than half the time of the direct sums of long_convolution(), which move
/// channels to lanes and back, and three quarters for 8 (bench/convolution_bench). For strides or
/// padding use conv1d() with as many groups as channels. x (B, T, D), w (K, D) -> (B, T, D)
Var short_convolution(const Var& x, const Var& w);

}  // namespace bochner::inline BOCHNER_PRECISION
