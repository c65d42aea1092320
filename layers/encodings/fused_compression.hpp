#pragma once
/// Smaller stand-ins for a trained matrix, such as the W of a fused encoding: pruned, of low rank,
/// in few bits. They are made, and judged, for the rows x (P, M) that W (M, N) is applied to: what
/// counts is x W. The identity as x judges W itself.

#include <bochner/autodiff/tensor.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct CompressedMatrix {
  Tensor weight;                 ///< what it stands for, (M, N)
  double error = 0;              ///< |x weight - x W| / |x W|, by Frobenius
  std::size_t bytes = 0;         ///< to store it, in single precision where it is not in fewer bits
  Tensor left = {}, right = {};  ///< (M, r) and (r, N), whose product it is if it is of low rank
};

/// `weight` as a stand-in for W.
CompressedMatrix judged(const Tensor& w, Tensor weight, const Tensor& x, std::size_t bytes);
/// The fraction `keep` of the entries with the largest magnitudes, fitted again by least squares of
/// x W, the rest 0; `mask` (M, N) receives 1 for those. Stored as entries and one bit for each
/// place. Where they are to be rounded to `bits`, 2 to 16, the expected error of that counts too:
/// else what x hardly sees may grow without bound, and a row's unit with it.
CompressedMatrix pruned(const Tensor& w, const Tensor& x, double keep, Tensor& mask, int bits = 32);
/// Whole multiples of a unit per row that spans its largest magnitude, 2 <= bits <= 16.
CompressedMatrix quantized(const Tensor& w, const Tensor& x, int bits);
/// The matrix of rank at most `rank` with the nearest x W (Eckart and Young 1936), stored as two
/// factors.
CompressedMatrix low_rank(const Tensor& w, const Tensor& x, std::size_t rank);

}  // namespace bochner::inline BOCHNER_PRECISION
