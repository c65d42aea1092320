#pragma once
/// Where the densities of a Gaussian process start.

#include <bochner/layers/gaussian_processes/gaussian_process.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The median heuristic of each head's input: see median_log_scale(). (d, n) -> (heads)
std::vector<double> distance_log_scales(const std::vector<std::vector<double>>& inputs,
                                        const std::vector<std::size_t>& heads, std::uint64_t seed);

/// A mixture starts as a slow component, as long as the span of the rows, and the strongest waves
/// of the targets along each head's input: one after the other, the frequency that leaves the least
/// squares is taken and its wave subtracted, a line before all (matching pursuit over a
/// Lomb-Scargle periodogram; VanderPlas, "Understanding the Lomb-Scargle periodogram", 2018).
/// Throws std::invalid_argument for other densities. Time n times frequencies times components, of
/// at most 4,096 rows, for each input.
void init_from_periodogram(SpectralDensity& density, const std::vector<std::size_t>& heads,
                           const ProcessRows& rows, std::uint64_t seed);

/// Of the targets less a line: what spectra explain, and what they leave.
struct ProcessVariances {
  double signal, noise;
};
/// From there EM fits the mixture to the periodogram, frequencies of both signs counted by their
/// power, with a uniform background for the noise: the empirical spectrum of Wilson and Adams,
/// 2013, fitted instead of drawn from. The same time and errors.
ProcessVariances start_by_em(SpectralDensity& density, const std::vector<std::size_t>& heads,
                             const ProcessRows& rows, std::uint64_t seed);

/// How many components the spectra of the targets need, 2 to `most`, of the input that needs most:
/// a slow one, and those that a Dirichlet process finds among 512 draws of the periodogram above
/// four times its floor. A function of rows and seed. Time as init_from_periodogram() for one
/// component.
std::size_t count_waves(const ProcessRows& rows, std::size_t most, std::uint64_t seed);

}  // namespace bochner::inline BOCHNER_PRECISION
