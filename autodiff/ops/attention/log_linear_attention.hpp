#pragma once
/// Linear attention whose states are weighed by their age.

#include <bochner/autodiff/tape.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct LogLinearOptions {
  /// Tokens per chunk, rounded down to a power of two: speed only, results differ by rounding.
  std::size_t chunk = 32;
  /// Tokens per sequence (B), or empty for T. Tokens beyond have zero output and gradient.
  std::vector<std::size_t> lengths = {};
  bool reverse = false;  ///< from the last token of each sequence to its first
};

/// Computes y_i = sum_(j <= i) weights_(i, l) (q_i . k_j) kappa_ij v_j, not normalised. l is the
/// level of the pair in a Fenwick tree: 0 for j = i, else 1 + the index of the highest bit in which
/// i and j differ, and at most L - 1. So a token sees its past as at most log2(T) + 1 states, of 1,
/// 1, 2, 4, .. tokens or none. kappa as in linear_attention(): exp(-(rate_(j+1) + .. + rate_i)) for
/// rates >= 0 (H) or (B, T, H), 1 for none.
/// q, k (B, T, H, F), v (B, T, H, d), weights (B, T, H, L), L >= 2 -> (B, T, H, d). O(T log T F d);
/// stores only the inputs. Guo et al., "Log-linear attention", 2025.
Var log_linear_attention(const Var& q, const Var& k, const Var& v, const Var& weights,
                         const Var& rate = {}, const LogLinearOptions& options = {});

/// Sums of past tokens by level, (H, F, d) each: H heads of one sequence, or B H of several.
struct LogLinearState {
  std::vector<Tensor> sums = {};
  std::size_t tokens = 0;
};

/// Processes one token of each sequence in O(log T F d) and memory. q, k (H, F), v (H, d), weights
/// (H, L), `rate` (H) or null -> (H, d)
Tensor log_linear_attention_step(LogLinearState& state, const Tensor& q, const Tensor& k,
                                 const Tensor& v, const Tensor& weights, const Tensor* rate);

}  // namespace bochner::inline BOCHNER_PRECISION
