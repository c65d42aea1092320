#pragma once
/// Compression of a trained matrix, such as a fused encoding's W: pruning, low rank, quantization.
/// Fit and error are those of x W for rows x (P, M) and W (M, N); x = identity gives W itself.

#include <bochner/autodiff/tensor.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct CompressedMatrix {
  Tensor weight;                 ///< approximation of W, (M, N)
  double error = 0;              ///< |x weight - x W| / |x W|, Frobenius norm
  std::size_t bytes = 0;         ///< stored size, in single precision unless quantized
  Tensor left = {}, right = {};  ///< factors (M, r) and (r, N) of a low rank
};

/// Measures the error of `weight` as an approximation of W.
CompressedMatrix measured(const Tensor& w, Tensor weight, const Tensor& x, std::size_t bytes);
/// Keeps the fraction `keep` of entries with the largest magnitudes, refits them by least squares
/// on x W and zeroes the rest; `mask` (M, N) receives 1 for kept entries. Stored as entries and one
/// bit per place. For `bits` from 2 to 16 the fit includes the expected rounding error, else
/// directions that x hardly excites could grow without bound.
CompressedMatrix pruned(const Tensor& w, const Tensor& x, double keep, Tensor& mask, int bits = 32);
/// Rounds each row to levels that span its largest magnitude, 2 <= bits <= 16.
CompressedMatrix quantized(const Tensor& w, const Tensor& x, int bits);
/// Returns the best approximation of x W of at most `rank` (Eckart and Young 1936), as factors.
CompressedMatrix low_rank(const Tensor& w, const Tensor& x, std::size_t rank);

}  // namespace bochner::inline BOCHNER_PRECISION
