#pragma once
/// Convolutions of many channels along a sequence, by direct sums and by spectra. Row i of a kernel
/// (K, D) is that of lag i - future.

#include <bochner/autodiff/compute/channel_lanes.hpp>
#include <bochner/autodiff/tensor.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The kernel's rows and where lag 0 stands among them.
struct KernelRows {
  std::size_t count, future;
  /// Lags above 0.
  std::size_t past() const { return count - 1 - future; }
};

/// Sequences in blocks whose gradients of a kernel are summed apart and joined in order: enough
/// tasks for many threads, as many for any number of them and for any width of vectors.
struct SequenceBlocks {
  SequenceBlocks(std::size_t B, std::size_t D)
      : B(B), size(std::max<std::size_t>(1, B * ceil_div(D, 16) / 32)), count(ceil_div(B, size)) {}
  template <class Body>
  void for_each(std::size_t block, const Body& body) const {
    for (std::size_t b = block * size; b < std::min(B, (block + 1) * size); ++b) body(b);
  }
  std::size_t B, size, count;
};

/// Whether direct sums are the faster way; depends on the shape only.
bool is_short_convolution(std::size_t T, const KernelRows& rows);

/// y_t = sum_i k_i x_(t - i + future) + beta y_t, or with the opposite lags if `mirrored`.
void convolve_directly(const ChannelSequences& sequences, const KernelRows& rows, const real* x,
                       const real* kernel, bool mirrored, real beta, real* y);
/// dk_i += sum_t g_t x_(t - i + future), sums over tokens and sequences in a fixed order.
void accumulate_kernel_directly(const ChannelSequences& sequences, const KernelRows& rows,
                                const real* x, const real* g, real* dkernel);

/// Convolutions of a length by products of spectra. `Spectra` of sequences are (groups of channels,
/// B, bins), of kernels (groups, bins), each a ComplexLanes.
class SpectralConvolution {
 public:
  SpectralConvolution(const ChannelSequences& sequences, const KernelRows& rows);
  /// The kernel's spectra, divided by the length of the transforms.
  Storage kernel_spectra(const real* kernel) const;
  /// y as above; the spectra of x are kept in `spectra_of_x`, unless it is null.
  void forward(const real* x, const Storage& kernel, real* y, Storage* spectra_of_x) const;
  /// What both gradients take: dx = g * mirrored kernel + beta dx and dk += that of the kernel;
  /// each of them may be null.
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
