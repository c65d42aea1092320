#pragma once

#include <bochner/autodiff/tensor.hpp>
#include <functional>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Computes y_t = sum_j k_j x_(t-j) exactly for tokens that arrive one by one, in O(T log^2 T) in
/// total: after token i, the last U tokens (U the largest power of two that divides i) are added to
/// the next U outputs by one FFT product. Oncescu et al., "Flash Inference", 2024; van der Hoeven,
/// "Relax, but don't be too lazy", 2002. Memory: the smaller of kernel length and tokens seen.
class ConvolutionStream {
 public:
  /// Returns the kernel's lags 0 .. count - 1 without trailing zeros, (<= count, D); otherwise the
  /// stream throws std::invalid_argument.
  using Kernel = std::function<Tensor(std::size_t count)>;
  /// For a kernel of at most `limit` >= 1 lags, which is evaluated as needed.
  ConvolutionStream(std::size_t D, std::size_t limit, Kernel kernel, std::size_t sequences = 1);
  std::size_t width() const { return rows_ / groups_ * D_; }
  /// Consumes the next token of each sequence and writes its output. (B, D) -> (B, D)
  void next(const real* x, real* y);

 private:
  void grow(std::size_t size);
  void add_block(std::size_t block);
  void add_spectrally(std::size_t block);
  const Storage& kernel_spectra(std::size_t block);

  /// groups_ counts the channel groups of one sequence.
  std::size_t D_, groups_, rows_, limit_, most_;
  Kernel make_kernel_;
  std::size_t seen_ = 0, size_ = 0;
  Storage inputs_, outputs_;      ///< last `size_` tokens, next outputs (rows, size)
  Storage kernel_;                ///< lags (groups, 2 size)
  std::vector<Storage> spectra_;  ///< of the first 2 U lags, by log2 U, or empty (groups, bins)
};

}  // namespace bochner::inline BOCHNER_PRECISION
