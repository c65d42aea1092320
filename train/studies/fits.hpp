#pragma once
/// Stationary kernels to aim at; spectral densities and feature maps fitted to kernels by gradient
/// descent.

#include <bochner/layers/spectral/density.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>
#include <functional>
#include <optional>

namespace bochner {

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
/// Rows "delta_1, .., delta_d, k" of a .csv or .npy file. Throws DataError.
KernelPoints read_kernel(const std::string& file);

struct FitOptions {
  std::uint64_t steps = 1500;
  double learning_rate = 0.03;  ///< of Adam, falling to 0 as half a cosine
  std::uint64_t seed = 1;
};

/// Relative errors |estimate - k| / |k| over points that the fit has not seen.
struct DensityFit {
  double before = 0;      ///< of the saved draws, before the fit
  double of_draws = 0;    ///< of the saved draws after it, what a model with these m would use
  double of_density = 0;  ///< of many fresh draws: what was learned about the density itself
  std::optional<double> closed_form;  ///< of the density's own closed form, if it has one
  std::vector<double> losses;         ///< squared relative error of each step
};

/// Minimises the mean square of mean_i cos(omega_i . delta) - k(delta), new draws at every step
/// from the density's own redraw schedule. `many` makes the density for fresh draws: equal
/// parameters, other draws.
DensityFit fit_density(SpectralDensity& density, SpectralDensity& many, const KernelPoints& train,
                       const KernelPoints& held_out, const FitOptions& options);

/// mean_i cos(omega_i . delta) of head 0 as a function of the parameters. (n, d) -> (n)
Var kernel_of(Tape& tape, SpectralDensity& density, const Tensor& delta);

/// Every other point to fit and every other to test.
struct SplitPoints {
  KernelPoints train, held_out;
};
SplitPoints split(const KernelPoints& points);

struct MapFitOptions {
  std::uint64_t steps = 300;
  double learning_rate = 0.01;  ///< of Adam, falling to 0 as half a cosine
  bool density = false;         ///< fit the frequencies too, not only what the map has of its own
};

/// Error of the map's kernel between queries and keys: each row in units of its exact sum, the root
/// of the summed squares relative to the kernel's own. What attention sees before it divides. The
/// kernel is that which the map estimates in closed form for N(0, I); for a weighted map that of
/// the map without weights, for one that has none exp(q . k / sqrt d).
double kernel_error(FeatureMap& map, const SampleBlock& block);
/// The root of its expected square over independent draws from N(0, I); empty where the map has no
/// variance in closed form. Errors of exponential maps are so skewed that a few draws do not show
/// it.
std::optional<double> expected_kernel_error(FeatureMap& map, const SampleBlock& block);

/// Minimises the square of kernel_error() on a block. Returns how many numbers were fitted.
std::size_t fit_map(FeatureMap& map, const SampleBlock& train, const MapFitOptions& options);

}  // namespace bochner
