#pragma once
/// Where to look next: the expected improvement on the lowest score, and the place where it is
/// largest.

#include <bochner/train/sweep/search/space.hpp>
#include <bochner/train/sweep/search/surrogate.hpp>
#include <cstdint>
#include <set>

namespace bochner {

/// ln(z Phi(z) + phi(z)), the logarithm of the expected improvement of a standard normal score with
/// the best one at z; finite however small that is. By a continued fraction of Mills' ratio where
/// the terms would cancel. `slope` is its derivative. Ament et al., "Unexpected improvements to
/// expected improvement", 2023.
double log_improvement(double z, double* slope = nullptr);

/// The values of largest expected improvement below `best` that are not in `known`: of Sobol points
/// and what is found from the best of them, by the gradient along continuous axes and by trying all
/// levels of the others. None where all of these are known.
std::optional<Values> most_promising(const Space& space, const Surrogate& surrogate, double best,
                                     const std::set<Values>& known, std::uint64_t seed,
                                     std::uint64_t number);

/// The first of the points of the unit cube (count, size()) whose values are not known.
std::optional<Values> first_unknown(const Space& space, const std::vector<double>& points,
                                    const std::set<Values>& known);

}  // namespace bochner
