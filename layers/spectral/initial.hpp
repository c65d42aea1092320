#pragma once
/// Initialization of densities from data, and periodograms.

#include <bochner/autodiff/real.hpp>
#include <bochner/autodiff/tensor.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <cstddef>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns the median heuristic per column: log of 1 / (sqrt(d') median |x_ij - x_kj|) over sampled
/// pairs that differ there, d' the number of columns that vary; constant columns get the mean of
/// the others, or 0. x (n, d) -> (d). Garreau, Jitkrittum, Kanagawa, 2017.
std::vector<double> median_log_scale(const Tensor& x, const RandomFunction& random);

/// Draws m angular frequencies per column from the periodogram of a signal sampled every `spacing`,
/// with random sign, uniform within bins; 0 for a constant column. signals (T, C) -> (m, C),
/// |omega| <= pi / spacing. Time T^2 C. The empirical spectrum of Wilson and Adams, 2013.
Tensor periodogram_frequencies(const Tensor& signals, double spacing, std::size_t m,
                               const RandomFunction& random);

/// Returns, for the frequencies step, 2 step, .., count step, the sum of squares of y (n) that a
/// wave explains, cosine and sine fitted by least squares at places x (n). Subtract mean or trend
/// from y first. VanderPlas, "Understanding the Lomb-Scargle periodogram", 2018. Time n count,
/// phases within 1e-12. -> (count)
std::vector<double> wave_powers(const std::vector<double>& x, const std::vector<double>& y,
                                double step, std::size_t count);

}  // namespace bochner::inline BOCHNER_PRECISION
