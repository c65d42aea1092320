#pragma once
/// The periodogram of numbers at irregular places.

#include <bochner/autodiff/real.hpp>
#include <cstddef>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// For the frequencies step, 2 step, .., count step the squares of y (n) that a wave of this
/// frequency, cosine and sine by least squares at the places x (n), explains: the periodogram of
/// Lomb and Scargle, of numbers whose mean or trend is subtracted already. VanderPlas,
/// "Understanding the Lomb-Scargle periodogram", 2018. Time n count, phases within 1e-12. ->
/// (count)
std::vector<double> wave_powers(const std::vector<double>& x, const std::vector<double>& y,
                                double step, std::size_t count);

}  // namespace bochner::inline BOCHNER_PRECISION
