#pragma once
#include <cstddef>

namespace bochner {

/// What spreads a wave over the `width` nearest nodes of a finer grid of frequencies:
/// sinh(beta sqrt(1 - z^2)) / sinh(beta), whose Fourier transform is closed. Potts and Tasche 2021.
class SpreadingKernel {
 public:
  /// For sums of waves at `nodes` nodes; the finer grid is `oversampling` times as large, or more.
  SpreadingKernel(std::size_t nodes, std::size_t width, double oversampling);
  std::size_t width() const { return width_; }
  /// Length of the finer grid.
  std::size_t fine() const { return fine_; }
  /// At z = 2 distance / width, in [-1, 1].
  double value(double z) const;
  /// What undoes the spreading at the node that is k from the middle one.
  double factor(double k) const;
  /// The largest error of a wave of amplitude 1 at any of the nodes: what its aliases add up to.
  double error_bound() const;

 private:
  double transform(double k) const;
  std::size_t nodes_, width_, fine_;
  double beta_;
};

}  // namespace bochner
