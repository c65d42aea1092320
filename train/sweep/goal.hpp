#pragma once
/// What a sweep makes small or large.

#include <bochner/train/sweep/search/pareto.hpp>
#include <limits>
#include <string>
#include <string_view>

namespace bochner {

/// The lowest or the highest number of this name in the metrics of a run.
struct Goal {
  std::string metric = "valid";
  bool largest = false;

  /// "valid.min"
  std::string text() const { return metric + (largest ? ".max" : ".min"); }
  /// Of which the smaller one is better.
  double score(double measured) const { return largest ? -measured : measured; }
};
/// Throws std::invalid_argument.
Goal parse_goal(const std::string& text);

inline constexpr std::uint64_t any_step = std::numeric_limits<std::uint64_t>::max();
/// One number for each goal from the text of a metrics.jsonl up to a step; NaN where it has none.
std::vector<double> measure(const std::vector<Goal>& goals, std::string_view metrics,
                            std::uint64_t last_step = any_step);
/// "it has valid, loss": what may be a goal in them, numbers of validations first.
std::string names_in(std::string_view metrics);
Scores scores_of(const std::vector<Goal>& goals, const std::vector<double>& measured);

}  // namespace bochner
