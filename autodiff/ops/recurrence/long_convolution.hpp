#pragma once
/// Convolutions along a sequence, each channel with a kernel of its own. Row i of a kernel weighs
/// the token at lag i - future: those before `future` look ahead.

#include <bochner/autodiff/tape.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// How the sums of a long convolution are computed; they differ by rounding.
enum class ConvolutionMethod { fastest, direct, spectral };

struct LongConvolutionOptions {
  std::size_t future = 0;  ///< rows of the kernel that look ahead; 0 for a causal convolution
  /// Tokens of each sequence, (B), or empty for T: what lies beyond has no weight, a zero output
  /// and no gradient.
  std::vector<std::size_t> lengths = {};
  ConvolutionMethod method = ConvolutionMethod::fastest;  ///< a function of the sizes only
};

/// y_t = sum_i k_i x_(t - i + future), tokens outside the sequence being zero. Sums are direct
/// where kernel or sequence are short, and no output sees what its kernel does not reach; beyond
/// they are products of spectra, whose rounding ties an output to all of its sequence, and to no
/// other. x (B, T, D), kernel (L, D), future < L -> (B, T, D). O(T log T) in T for any L.
Var long_convolution(const Var& x, const Var& kernel, const LongConvolutionOptions& options = {});

/// Piecewise constant kernels: y_t = sum_s k_s (sum of x_(t - l) over the lags edges_s <= l <
/// edges_(s+1)), by differences of prefix sums, which are held in double. O(S) for each token and
/// channel. `edges` are S + 1 ascending lags, those below 0 look ahead; `lengths` as above. x (B,
/// T, D), k (S, D) -> (B, T, D)
Var prefix_convolution(const Var& x, const Var& k, const std::vector<std::int64_t>& edges,
                       const std::vector<std::size_t>& lengths = {});
/// 0, 1, 2, 4, .. up to `lags` >= 1, the last, and the same below 0 if both ways.
std::vector<std::int64_t> dyadic_edges(std::size_t lags, bool both_ways);

/// h_l = sum_n e^(-rate l) (cosine cos(frequency l) + sine sin(frequency l)) for each channel at
/// the lags l = 0 .. count - 1, or from the last to the first: the kernel of a diagonal state
/// space, and the Fourier transform of a density with decay. (C, N) each -> (count, C)
Var exponential_kernels(const Var& rate, const Var& frequency, const Var& cosine, const Var& sine,
                        std::size_t count, bool descending = false);

}  // namespace bochner::inline BOCHNER_PRECISION
