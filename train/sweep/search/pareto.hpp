#pragma once
/// Several scores at once, each the better the smaller.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bochner {

/// Scores of one trial, one for each goal; all finite, or none where it failed.
using Scores = std::vector<double>;

/// The trials that no other one beats: better in a score and worse in none. Ascending.
std::vector<std::size_t> pareto_front(const std::vector<Scores>& trials);

/// One number for each trial: the largest of its scores, brought to [0, 1] and weighted, and a
/// twentieth of their sum. The weights are uniform on the simplex, a function of seed and number;
/// over many numbers the smallest ones are all over the front. Knowles, "ParEGO", 2006.
std::vector<double> scalarised(const std::vector<Scores>& trials, std::uint64_t seed,
                               std::uint64_t number);

}  // namespace bochner
