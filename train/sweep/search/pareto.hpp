#pragma once
/// Pareto fronts and scalarised scores of several goals; smaller is better.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bochner {

/// Scores of one trial, one per goal; all finite, or none if it failed.
using Scores = std::vector<double>;

/// Returns the Pareto front, ascending: no other trial is better in a score and worse in none.
std::vector<std::size_t> pareto_front(const std::vector<Scores>& trials);

/// Returns one number per trial: the largest of its scores, scaled to [0, 1] and weighted, plus a
/// twentieth of their sum. The weights are uniform on the simplex, a function of seed and number;
/// over many numbers the minima cover the front. Knowles, "ParEGO", 2006.
std::vector<double> scalarised(const std::vector<Scores>& trials, std::uint64_t seed,
                               std::uint64_t number);

}  // namespace bochner
