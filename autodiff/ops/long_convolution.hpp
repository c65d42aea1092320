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
/// other. x (B, T, D), kernel (L, D), future <= L -> (B, T, D). O(T log T) in T for any L.
Var long_convolution(const Var& x, const Var& kernel, const LongConvolutionOptions& options = {});

}  // namespace bochner::inline BOCHNER_PRECISION
