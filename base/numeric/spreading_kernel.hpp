#pragma once
#include <cstddef>

namespace bochner {

/// The sinh kernel of a non-uniform FFT: spreads a wave over the `width` nearest nodes of an
/// oversampled grid of frequencies. sinh(beta sqrt(1 - z^2)) / sinh(beta) has a closed Fourier
/// transform. Potts and Tasche, 2021.
class SpreadingKernel {
 public:
  /// For sums at `nodes` nodes; the grid is at least `oversampling` times as large.
  SpreadingKernel(std::size_t nodes, std::size_t width, double oversampling);
  std::size_t width() const { return width_; }
  /// Returns the length of the oversampled grid.
  std::size_t fine() const { return fine_; }
  /// Returns the kernel at z = 2 distance / width, in [-1, 1].
  double value(double z) const;
  /// Returns the deconvolution factor of the node at distance k from the middle one.
  double factor(double k) const { return 1 / transform(k); }
  /// Returns the largest error of a wave of amplitude 1 at any node: the sum of its aliases.
  double error_bound() const;

 private:
  double transform(double k) const;
  std::size_t nodes_, width_, fine_;
  double beta_;
};

}  // namespace bochner
