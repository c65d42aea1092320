#pragma once
/// Every combination of the values of a few config keys, and what came out of the runs of a sweep
/// as a table.

#include <bochner/train/sweep/search/variation.hpp>
#include <utility>

namespace bochner {

/// One combination.
struct GridPoint {
  /// "lr=1e-3,seed=2", a name for a directory; the end of a long one is a digest.
  std::string name;
  std::vector<std::string>
      values;                     ///< one for each variation, "" where its condition does not hold
  std::vector<std::string> sets;  ///< the same as changes of the config, KEY=VALUE
};
/// All combinations, the last variation changing fastest. Throws std::invalid_argument as
/// require_sound() does, and where a range is varied or there are more than `most`.
std::vector<GridPoint> grid(const std::vector<Variation>& variations, std::size_t most = 10000);

/// Names and numbers of a run's last validation, in the order in which they were written.
using Measures = std::vector<std::pair<std::string, double>>;
/// Of the text of a metrics.jsonl; empty if it has no validation.
Measures last_validation(std::string_view metrics);

/// A run that has ended.
struct SweepResult {
  GridPoint point;
  Measures measures;
};

/// A table in Markdown: a row for each combination of everything but train.seed, with the mean of
/// each measure over the seeds and, of several, the lowest and the highest.
std::string summary(const std::vector<Variation>& variations,
                    const std::vector<SweepResult>& results);
/// {"set":["train.seed=1"],"run":"runs/sweep/seed=1","valid":1.2} and a line end.
std::string result_json(const SweepResult& result, const std::string& run);

}  // namespace bochner
