#pragma once
/// Long convolutions token by token.

#include <bochner/autodiff/tensor.hpp>
#include <functional>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// y_t = sum_j k_j x_(t-j) of sequences whose tokens arrive one by one, exactly, in O(T log^2 T)
/// for T of them: after token i the last U tokens, U the largest power of two that divides i, are
/// added to the U outputs to come as one product of spectra. Oncescu et al., "Flash Inference",
/// 2024; van der Hoeven, "Relax, but don't be too lazy", 2002. Memory is that of the lags that the
/// kernel has, or of the tokens seen where those are fewer.
class ConvolutionStream {
 public:
  /// The kernel's lags 0 .. count - 1, or those that are not zero. -> (<= count, D), or the
  /// stream throws std::invalid_argument.
  using Kernel = std::function<Tensor(std::size_t count)>;
  /// A kernel of at most `limit` >= 1 lags, asked for as it is needed.
  ConvolutionStream(std::size_t D, std::size_t limit, Kernel kernel, std::size_t sequences = 1);
  /// Elements of a token of each sequence.
  std::size_t width() const { return rows_ / groups_ * D_; }
  /// The next token of each sequence and its output. (B, D) -> (B, D)
  void next(const real* x, real* y);

 private:
  void grow(std::size_t size);
  void add_block(std::size_t block);
  void add_spectrally(std::size_t block);
  const Storage& kernel_spectra(std::size_t block);

  /// Of the channels of a group: `groups_` of each sequence.
  std::size_t D_, groups_, rows_, limit_, most_;
  Kernel make_kernel_;
  std::size_t seen_ = 0, size_ = 0;
  Storage inputs_, outputs_;      ///< the last `size_` tokens, the next outputs (rows, size)
  Storage kernel_;                ///< lags (groups, 2 size)
  std::vector<Storage> spectra_;  ///< of the first 2 U lags, by log2 U, or empty (groups, bins)
};

}  // namespace bochner::inline BOCHNER_PRECISION
