#pragma once
/// Fits of spectral densities and feature maps to stationary kernels by gradient descent.

#include <bochner/layers/spectral/density.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>
#include <functional>
#include <optional>

namespace bochner {

/// Values k(delta) at points (n, d).
struct KernelPoints {
  Tensor delta;                ///< (n, d)
  std::vector<double> values;  ///< n
};

/// A kernel by name, of length scale 1: with r = |delta|,
///   gaussian exp(-r^2/2), laplace exp(-r), cauchy 1/(1 + r^2),
///   matern32 (1 + sqrt3 r) exp(-sqrt3 r), matern52 (1 + sqrt5 r + 5 r^2/3) exp(-sqrt5 r),
///   periodic_mixture 0.6 exp(-r^2/2) + 0.4 exp(-r^2/32) cos(3 delta_0).
std::vector<std::string> target_kernels();
/// Returns a kernel by name. Throws std::invalid_argument that lists the names.
std::function<double(const double* delta, std::size_t d)> target_kernel(const std::string& name);

/// Samples a kernel at points with uniform directions and uniform r below `reach`.
KernelPoints sample_kernel(const std::string& name, std::size_t n, std::size_t d, double reach,
                           std::uint64_t seed);
/// Reads rows "delta_1, .., delta_d, k" of a .csv or .npy file. Throws DataError.
KernelPoints read_kernel(const std::string& file);

struct FitOptions {
  std::uint64_t steps = 1500;
  double learning_rate = 0.03;  ///< of Adam, falling to 0 as half a cosine
  std::uint64_t seed = 1;
};

/// Relative errors |estimate - k| / |k| over points not used by the fit.
struct DensityFit {
  double before = 0;      ///< of the saved draws, before the fit
  double of_draws = 0;    ///< of the saved draws after it, which a model with this m would use
  double of_density = 0;  ///< of many fresh draws: the learned density itself
  std::optional<double> closed_form;  ///< of the density's own closed form, if it has one
  std::vector<double> losses;         ///< squared relative error of each step
};

/// Minimises the mean square of mean_i cos(omega_i . delta) - k(delta), with new draws at every
/// step by the redraw schedule. `many` makes a density of equal parameters for fresh draws. Throws
/// std::invalid_argument with the first op and element that is not finite.
DensityFit fit_density(SpectralDensity& density, SpectralDensity& many, const KernelPoints& train,
                       const KernelPoints& held_out, const FitOptions& options);

/// Returns mean_i cos(omega_i . delta) of head 0 as a function of the parameters. (n, d) -> (n)
Var kernel_of(Tape& tape, SpectralDensity& density, const Tensor& delta);

/// Split of points: every other one to fit, the others to test.
struct SplitPoints {
  KernelPoints train, held_out;
};
SplitPoints split(const KernelPoints& points);

struct MapFitOptions {
  std::uint64_t steps = 300;
  double learning_rate = 0.01;  ///< of Adam, falling to 0 as half a cosine
  bool density = false;         ///< also fit the frequencies, not only the map's own parameters
};

/// Returns the error of the map's kernel between queries and keys before the normalization of
/// attention: each row in units of its exact sum, the root of the summed squares relative to the
/// kernel's own. The kernel is that which the map estimates in closed form for N(0, I); for a
/// weighted map that of the map without weights, for one without closed form exp(q . k / sqrt d).
double kernel_error(FeatureMap& map, const SampleBlock& block);
/// Returns the root of the expected square of kernel_error() over independent draws from N(0, I),
/// if known in closed form: a few draws do not show the skewed errors of exponential maps.
std::optional<double> expected_kernel_error(FeatureMap& map, const SampleBlock& block);

/// Minimises the square of kernel_error() on a block. Returns the number of fitted numbers.
std::size_t fit_map(FeatureMap& map, const SampleBlock& train, const MapFitOptions& options);

}  // namespace bochner
