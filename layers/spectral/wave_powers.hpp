#pragma once
/// Lomb-Scargle periodogram.

#include <bochner/autodiff/real.hpp>
#include <cstddef>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns, for the frequencies step, 2 step, .., count step, the sum of squares of y (n) that a
/// wave explains, cosine and sine fitted by least squares at places x (n). Subtract mean or trend
/// from y first. VanderPlas, "Understanding the Lomb-Scargle periodogram", 2018. Time n count,
/// phases within 1e-12. -> (count)
std::vector<double> wave_powers(const std::vector<double>& x, const std::vector<double>& y,
                                double step, std::size_t count);

}  // namespace bochner::inline BOCHNER_PRECISION
