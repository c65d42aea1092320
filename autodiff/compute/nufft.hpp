#pragma once
/// Non-uniform FFT of type 1: sums of waves with free frequencies at the nodes of a regular grid.
/// Spreads each wave over the neighbours of its frequency on a finer frequency grid, transforms
/// that grid and divides the spreading out. Dutt and Rokhlin, 1993.

#include <bochner/autodiff/tensor.hpp>
#include <bochner/base/numeric/spreading_kernel.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// The nodes first, first + step, ...
struct RegularAxis {
  double first = 0, step = 1;
  std::size_t count = 1;
};
/// Throws std::invalid_argument unless the coordinates are evenly spaced up to rounding.
RegularAxis regular_axis(const std::vector<double>& coordinates);

/// Accuracy of the spreading. By default an axis adds less than 1e-6 in float and 1e-10 in double
/// to the error of a wave of amplitude 1, plus rounding; see SpreadingKernel::error_bound().
struct SpreadingOptions {
  std::size_t width = sizeof(real) == 4 ? 8 : 13;
  double oversampling = 2;
};

/// Computes sum_f a[f] sin(w_f . x) + a[m + f] cos(w_f . x) at all nodes x, the last axis fastest:
/// grid_fourier_features(axes, w) times a without forming the matrix. w (m, d), a (2m, C) -> (n_1
/// .. n_d, C), in O(m width^d + n log n) per column, n = n_1 .. n_d.
Tensor nufft(const std::vector<RegularAxis>& axes, const Tensor& w, const Tensor& a,
             const SpreadingOptions& options = {});

}  // namespace bochner::inline BOCHNER_PRECISION
