#pragma once
/// Grid of all combinations of values of config keys, and the results of its runs as a table.

#include <bochner/train/config/config.hpp>
#include <bochner/train/storage/storage.hpp>
#include <bochner/train/sweep/search/space.hpp>
#include <utility>

namespace bochner {

struct GridPoint {
  /// "lr=1e-3,seed=2", a directory name; a long one ends in a digest.
  std::string name;
  std::vector<std::string> values;  ///< per variation; "" if its condition does not hold
  std::vector<std::string> sets;    ///< as changes of the config, KEY=VALUE
};
/// Returns all combinations, the last variation changing fastest. Throws std::invalid_argument as
/// require_sound() does, if a range is varied, or for more than `most`.
std::vector<GridPoint> grid(const std::vector<Variation>& variations, std::size_t most = 10000);

/// Names and numbers of a run's last validation, in the order of the metrics.
using Measures = std::vector<std::pair<std::string, double>>;
/// Returns the last validation in the text of a metrics.jsonl; empty if there is none.
Measures last_validation(std::string_view metrics);
/// Returns "it has valid, loss": the possible metrics, those of validations first.
std::string names_in(std::string_view metrics);

struct SweepResult {
  GridPoint point;
  Measures measures;
};

/// Returns a Markdown table: a row per combination of everything but train.seed, with the mean of
/// each measure over the seeds and, of several, the lowest and the highest.
std::string summary(const std::vector<Variation>& variations,
                    const std::vector<SweepResult>& results);
/// Returns {"set":["train.seed=1"],"run":"runs/sweep/seed=1","valid":1.2} and a line end.
std::string result_json(const SweepResult& result, const std::string& run);

/// Returns the config of a trial of the config in `file`, checked. Throws ConfigError.
Config trial_config(const std::string& file, const std::string& name,
                    const std::vector<std::string>& sets);
/// Whether the run exists; throws ConfigError if it has other settings.
bool has_run(FileStorage& storage, const Path& path, const Config& config);

}  // namespace bochner
