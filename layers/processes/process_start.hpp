#pragma once
/// Where the densities of a Gaussian process start.

#include <bochner/layers/processes/gaussian_process.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The median heuristic of each head's input: see median_log_scale(). (d, n) -> (heads)
std::vector<double> distance_log_scales(const std::vector<std::vector<double>>& inputs,
                                        const std::vector<std::size_t>& heads, std::uint64_t seed);

/// A mixture starts as a slow component, as long as the span of the rows, and the strongest waves
/// of the targets along each head's input: one after the other, the frequency that leaves the least
/// squares is taken and its wave subtracted, a line before all (matching pursuit over a
/// Lomb-Scargle periodogram; VanderPlas, "Understanding the Lomb-Scargle periodogram", 2018).
/// Throws std::invalid_argument for other densities. Time n times frequencies times components, of
/// at most 4,096 rows.
void start_at_waves(SpectralDensity& density, const std::vector<std::size_t>& heads,
                    const ProcessRows& rows);

}  // namespace bochner::inline BOCHNER_PRECISION
