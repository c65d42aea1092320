#pragma once
/// Expected improvement on the lowest score, the acquisition function, and its maximum.

#include <bochner/train/sweep/search/space.hpp>
#include <bochner/train/sweep/search/surrogate.hpp>
#include <cstdint>
#include <set>

namespace bochner {

/// Returns ln(z Phi(z) + phi(z)), the logarithm of the expected improvement of a standard normal
/// score with the best one at z; finite however small that is. Uses a continued fraction of Mills'
/// ratio where the terms would cancel. `slope` is its derivative. Ament et al., "Unexpected
/// improvements to expected improvement", 2023.
double log_improvement(double z, double* slope = nullptr);

/// Returns the values of largest expected improvement below `best` that are not in `known`: among
/// Sobol points and local maxima from the best of them, by the gradient along continuous axes and
/// by trying all levels of the others. Nothing if all of these are known.
std::optional<Values> most_promising(const Space& space, const Surrogate& surrogate, double best,
                                     const std::set<Values>& known, std::uint64_t seed,
                                     std::uint64_t number);

/// Returns the first of the points of the unit cube (count, size()) whose values are not known.
std::optional<Values> first_unknown(const Space& space, const std::vector<double>& points,
                                    const std::set<Values>& known);

}  // namespace bochner
