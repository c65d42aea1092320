#pragma once
/// Initialization of the densities of Gaussian processes.

#include <bochner/layers/gaussian_processes/gaussian_process.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns median_log_scale() of each head's input. (d, n) -> (heads)
std::vector<double> distance_log_scales(const std::vector<std::vector<double>>& inputs,
                                        const std::vector<std::size_t>& heads, std::uint64_t seed);

/// Initializes a mixture with a slow component, as long as the span of the rows, and the strongest
/// waves of the targets along each head's input, found by matching pursuit over a Lomb-Scargle
/// periodogram after subtracting a line (VanderPlas, "Understanding the Lomb-Scargle periodogram",
/// 2018). Throws std::invalid_argument for other densities. Time per input: rows (at most 4,096)
/// times frequencies times components.
void init_from_periodogram(SpectralDensity& density, const std::vector<std::size_t>& heads,
                           const ProcessRows& rows, std::uint64_t seed);

/// Variances of the targets, less a line, that spectra explain and leave.
struct ProcessVariances {
  double signal, noise;
};
/// Fits the mixture by EM to the periodogram, starting from init_from_periodogram(): frequencies of
/// both signs weighted by power, with a uniform background for the noise. The empirical spectrum of
/// Wilson and Adams, 2013, fitted instead of sampled. Time and errors as init_from_periodogram().
ProcessVariances init_by_em(SpectralDensity& density, const std::vector<std::size_t>& heads,
                            const ProcessRows& rows, std::uint64_t seed);

/// Returns the number of components that the targets' spectra need, 2 to `most`, for the input that
/// needs most: a slow one, and those that a Dirichlet process finds among 512 draws of the
/// periodogram above four times its floor. Deterministic in rows and seed. Time as
/// init_from_periodogram() for one component.
std::size_t count_waves(const ProcessRows& rows, std::size_t most, std::uint64_t seed);

}  // namespace bochner::inline BOCHNER_PRECISION
