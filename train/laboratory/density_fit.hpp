#pragma once
/// A spectral density fitted to a kernel by gradient descent.

#include <bochner/layers/spectral/density.hpp>
#include <bochner/train/laboratory/target_kernel.hpp>

namespace bochner::inline BOCHNER_PRECISION {

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

}  // namespace bochner::inline BOCHNER_PRECISION
