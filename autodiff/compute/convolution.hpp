#pragma once
/// Convolutions along a sequence, direct or by FFT. Row i of a kernel (K, D) is lag i - future.

#include <bochner/autodiff/compute/channel_lanes.hpp>
#include <bochner/autodiff/tensor.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Number of kernel rows, and how many of them are before lag 0.
struct KernelRows {
  std::size_t count, future;
  std::size_t past() const { return count - 1 - future; }
};

/// Blocks of sequences whose kernel gradients are summed separately and joined in order: enough
/// tasks for many threads, and independent of the number of threads and the vector width.
struct SequenceBlocks {
  SequenceBlocks(std::size_t B, std::size_t D)
      : B(B), size(std::max<std::size_t>(1, B * ceil_div(D, 16) / 32)), count(ceil_div(B, size)) {}
  template <class Body>
  void for_each(std::size_t block, const Body& body) const {
    for (std::size_t b = block * size; b < std::min(B, (block + 1) * size); ++b) body(b);
  }
  std::size_t B, size, count;
};

/// Returns whether direct sums are faster; depends on the shape only.
bool is_short_convolution(std::size_t T, const KernelRows& rows);

/// Computes y_t = sum_i k_i x_(t - i + future) + beta y_t, with negated lags if `mirrored`.
void convolve_directly(const ChannelSequences& sequences, const KernelRows& rows, const real* x,
                       const real* kernel, bool mirrored, real beta, real* y);
/// Adds sum_t g_t x_(t - i + future) to dk_i, over tokens and sequences in a fixed order.
void accumulate_kernel_directly(const ChannelSequences& sequences, const KernelRows& rows,
                                const real* x, const real* g, real* dkernel);

/// FFT convolutions of one length. Spectra are ComplexLanes: of sequences (channel groups, B,
/// bins), of kernels (channel groups, bins).
class SpectralConvolution {
 public:
  SpectralConvolution(const ChannelSequences& sequences, const KernelRows& rows);
  /// Returns the kernel's spectra, divided by the length of the transforms.
  Storage kernel_spectra(const real* kernel) const;
  /// Computes y as convolve_directly() does; stores the spectra of x in `spectra_of_x` unless null.
  void forward(const real* x, const Storage& kernel, real* y, Storage* spectra_of_x) const;
  /// Computes dx = correlation of g with the kernel + beta dx, and adds the kernel's gradient to
  /// dkernel. Either may be null.
  void backward(const real* g, const Storage* kernel, const Storage* spectra_of_x, real beta,
                real* dx, real* dkernel) const;

 private:
  struct Place;
  template <class Body>
  void for_places(std::size_t tasks, std::size_t grain, const Body& body) const;
  void write_kernel_gradient(const Storage& sums, std::size_t blocks, real* dkernel) const;

  const ChannelSequences& sequences_;
  KernelRows rows_;
  std::size_t n_, bins_, groups_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
