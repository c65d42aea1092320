#pragma once
/// Stationary kernels to aim at.

#include <bochner/autodiff/tensor.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// k(delta) at points (n, d).
struct KernelPoints {
  Tensor delta;                ///< (n, d)
  std::vector<double> values;  ///< n
};

/// A kernel by name, of length scale 1: with r = |delta|,
///   gaussian exp(-r^2/2), laplace exp(-r), cauchy 1/(1 + r^2),
///   matern32 (1 + sqrt3 r) exp(-sqrt3 r), matern52 (1 + sqrt5 r + 5 r^2/3) exp(-sqrt5 r),
///   periodic_mixture 0.6 exp(-r^2/2) + 0.4 exp(-r^2/32) cos(3 delta_0).
std::vector<std::string> target_kernels();
/// Throws std::invalid_argument with the names when there is none of this one.
std::function<double(const double* delta, std::size_t d)> target_kernel(const std::string& name);

/// Points with uniform directions and uniform r below `reach`.
KernelPoints sample_kernel(const std::string& name, std::size_t n, std::size_t d, double reach,
                           std::uint64_t seed);
/// Rows "delta, k" of a .csv or .npy file: a kernel of one dimension. Throws DataError.
KernelPoints read_kernel(const std::string& file);

}  // namespace bochner::inline BOCHNER_PRECISION
