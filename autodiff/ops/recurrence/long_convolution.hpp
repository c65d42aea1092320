#pragma once
/// Convolutions along a sequence with a kernel per channel. Row i of a kernel weights the token at
/// lag i - future; rows before `future` look ahead.

#include <bochner/autodiff/tape.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Algorithm of a long convolution; results differ by rounding.
enum class ConvolutionMethod { fastest, direct, spectral };

struct LongConvolutionOptions {
  std::size_t future = 0;  ///< kernel rows that look ahead; 0 if causal
  /// Tokens per sequence (B), or empty for T: tokens beyond have zero weight, output and gradient.
  std::vector<std::size_t> lengths = {};
  ConvolutionMethod method = ConvolutionMethod::fastest;  ///< fastest: chosen by the sizes only
};

/// Computes y_t = sum_i k_i x_(t - i + future), with zeros outside the sequence. Short kernels or
/// sequences use direct sums, where no output sees what its kernel does not reach; others use FFT
/// products, whose rounding ties an output to its whole sequence, and to no other. x (B, T, D),
/// kernel (L, D), future < L -> (B, T, D). O(T log T) in T for any L.
Var long_convolution(const Var& x, const Var& kernel, const LongConvolutionOptions& options = {});

/// Convolves with piecewise constant kernels: y_t = sum_s k_s (sum of x_(t - l) over the lags
/// edges_s <= l < edges_(s+1)), by differences of prefix sums in double. O(S) per token and
/// channel. `edges` are S + 1 ascending lags, negative ones look ahead; `lengths` as above. x (B,
/// T, D), k (S, D) -> (B, T, D)
Var prefix_convolution(const Var& x, const Var& k, const std::vector<std::int64_t>& edges,
                       const std::vector<std::size_t>& lengths = {});
/// Returns 0, 1, 2, 4, .. up to `lags` >= 1, the last, and their negatives if both ways.
std::vector<std::int64_t> dyadic_edges(std::size_t lags, bool both_ways);

/// Returns h_l = sum_n e^(-rate l) (cosine cos(frequency l) + sine sin(frequency l)) per channel at
/// lags l = 0 .. count - 1, reversed if `descending`: the kernel of a diagonal state space, and the
/// Fourier transform of a decaying density. (C, N) each -> (count, C)
Var exponential_kernels(const Var& rate, const Var& frequency, const Var& cosine, const Var& sine,
                        std::size_t count, bool descending = false);

}  // namespace bochner::inline BOCHNER_PRECISION
