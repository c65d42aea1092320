#pragma once
/// Goals of a sweep: metrics to minimise or maximise, and their scores, of which smaller is better.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace bochner {

/// Lowest or highest number of this name in the metrics of a run.
struct Goal {
  std::string metric = "valid";
  bool largest = false;

  std::string text() const { return metric + (largest ? ".max" : ".min"); }
  /// Returns a score, of which smaller is better.
  double score(double measured) const { return largest ? -measured : measured; }
};
/// Parses "valid.min". Throws std::invalid_argument.
Goal parse_goal(const std::string& text);

inline constexpr std::uint64_t any_step = std::numeric_limits<std::uint64_t>::max();
/// Returns one number per goal from the text of a metrics.jsonl up to a step; NaN if it has none.
std::vector<double> measure(const std::vector<Goal>& goals, std::string_view metrics,
                            std::uint64_t last_step = any_step);
/// Scores of one trial, one per goal; all finite, or none if it failed.
using Scores = std::vector<double>;
Scores scores_of(const std::vector<Goal>& goals, const std::vector<double>& measured);

/// Returns the Pareto front, ascending: no other trial is better in a score and worse in none.
std::vector<std::size_t> pareto_front(const std::vector<Scores>& trials);

/// Returns one number per trial: the largest of its scores, scaled to [0, 1] and weighted, plus a
/// twentieth of their sum. The weights are uniform on the simplex, a function of seed and number;
/// over many numbers the minima cover the front. Knowles, "ParEGO", 2006.
std::vector<double> scalarised(const std::vector<Scores>& trials, std::uint64_t seed,
                               std::uint64_t number);

}  // namespace bochner
