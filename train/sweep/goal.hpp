#pragma once
/// Goals of a sweep: metrics to minimise or maximise.

#include <bochner/train/sweep/search/pareto.hpp>
#include <limits>
#include <string>
#include <string_view>

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
/// Returns "it has valid, loss": the possible metrics, those of validations first.
std::string names_in(std::string_view metrics);
Scores scores_of(const std::vector<Goal>& goals, const std::vector<double>& measured);

}  // namespace bochner
