#pragma once
/// Runs side by side: those that differ in nothing but the seed are one group.

#include <bochner/train/run/log/run_view.hpp>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace bochner {

/// Names that tell runs apart: their paths below the deepest folder that holds them all.
std::vector<std::string> short_names(const std::vector<Path>& runs);

struct RunGroup {
  std::string name;
  std::vector<const RunView*> runs;
};
/// In the order of their first runs. Of one config and seed each run is a group of its own: they
/// are no draws of the same. The views must outlive the groups.
std::vector<RunGroup> groups_of(const std::deque<RunView>& runs);

/// By the mean of the lowest losses of validation, those without any last.
void sort_by_best(std::vector<RunGroup>& groups);

/// A key of the config, or "forked from", and its value in each group.
struct Difference {
  std::string key;
  std::vector<std::string> values;
};
/// Keys other than train.seed whose values are not the same in all groups.
std::vector<Difference> differences(const std::vector<RunGroup>& groups);
/// What the differences say against comparing losses: other data, another kind of model; or "".
std::string objection(const std::vector<Difference>& differences);

/// What a number counts, which is how it is written.
enum class Quantity { number, steps, rate, seconds, bytes };

/// One number of each run, where it has it.
struct RunFigure {
  std::string name;   ///< in JSON: "best_step"
  std::string words;  ///< of a table; "" for one that is in JSON only
  Quantity quantity = Quantity::number;
  std::vector<std::vector<double>> values = {};  ///< of each group
};
/// Steps, last and best values, time and memory, numbers of learned kernels; `goal` is a loss of
/// validation to which the time is measured. Figures that no run has are left out.
std::vector<RunFigure> figures_of(const std::vector<RunGroup>& groups, std::optional<double> goal);
/// The lowest loss of validation that all runs reach which have any, to four digits.
std::optional<double> common_goal(const std::vector<RunGroup>& groups);
/// The keys of validation that any run has logged, its loss in front.
std::vector<std::string> measures_of(const std::vector<RunGroup>& groups);

/// The mean of a key of the metrics over the runs of a group that have logged it, from the first to
/// the last step that all of them have, by straight lines between steps that a run has; the
/// interval of its 95 % by Student's t where there are several. By time, x is the mean seconds of
/// training until the step.
Series mean_curve(const RunGroup& group, const std::string& key, bool by_time);

}  // namespace bochner
