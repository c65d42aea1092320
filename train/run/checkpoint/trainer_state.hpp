#pragma once
/// State that a run needs to continue bit for bit, except for its tensors and its config.

#include <algorithm>
#include <bochner/train/run/run_files.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace bochner {

struct BestCheckpoint {
  std::uint64_t step = 0;
  double metric = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(step, metric);
  }
  friend bool operator==(const BestCheckpoint&, const BestCheckpoint&) = default;
};

/// Fingerprint of data that an imported run has never opened.
inline constexpr std::uint64_t not_recorded = 0;

/// State of a trainer; random numbers, data order and learning rate are functions of its integers.
struct TrainerState {
  std::uint32_t version = format_version;
  std::uint64_t step = 0;      ///< optimizer steps requested; the clock of schedules and periods
  std::uint64_t examples = 0;  ///< data position: windows consumed since the start
  std::uint64_t tokens = 0;
  std::uint64_t optimizer_steps = 0;
  std::uint64_t ema_steps = 0;
  std::uint64_t seed = 0;
  std::uint64_t data_fingerprint = not_recorded;
  /// Last validation that improved by train.stop.min_delta, from which patience counts.
  double improved_metric = std::numeric_limits<double>::infinity();
  std::uint64_t improved_step = 0;
  std::uint64_t validated_step = 0;  ///< the last step whose validation is done
  std::uint64_t validations_since_improvement = 0;
  double loss_sum = 0;  ///< since the last line of metrics
  std::uint64_t loss_count = 0;
  std::uint64_t metrics_bytes = 0;   ///< size of metrics.jsonl; resume cuts the file to it
  double wall_seconds = 0;           ///< of training steps, over all resumes; for display only
  std::vector<BestCheckpoint> best;  ///< lowest loss first; retention keeps these
  std::string numerics;              ///< compiler, instruction set, backend; compared on resume
  std::vector<std::uint32_t> metrics_digests = {};  ///< of metrics.jsonl, see LineDigests
  std::uint64_t metrics_lines = 1;                  ///< lines of each digest
  std::string metrics_waiting = {};                 ///< lines that could not be written
  /// Modification marks of the fingerprinted files; 0 for small ones.
  std::uint64_t data_marks = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(version, step, examples, tokens, optimizer_steps, ema_steps, seed, data_fingerprint,
            improved_metric, improved_step, validated_step, validations_since_improvement, loss_sum,
            loss_count, metrics_bytes, wall_seconds, best, numerics, metrics_digests, metrics_lines,
            metrics_waiting, data_marks);
  }
  friend bool operator==(const TrainerState&, const TrainerState&) = default;
};

/// Adds state.step to the `keep` >= 1 best; ties go to the earlier step, NaN is left out.
inline void record_best(TrainerState& state, double metric, std::size_t keep) {
  if (std::isnan(metric)) return;
  std::erase_if(state.best, [&](const BestCheckpoint& entry) { return entry.step == state.step; });
  const auto worse = [](double value, const BestCheckpoint& entry) { return value < entry.metric; };
  const auto place = std::upper_bound(state.best.begin(), state.best.end(), metric, worse);
  state.best.insert(place, {state.step, metric});
  state.best.resize(std::min(state.best.size(), std::max<std::size_t>(keep, 1)));
}

/// Counts a validation for early stopping; an improvement of more than `min_delta` resets it.
inline void record_improvement(TrainerState& state, double metric, double min_delta) {
  ++state.validations_since_improvement;
  if (!(metric < state.improved_metric - min_delta)) return;
  state.improved_metric = metric;
  state.improved_step = state.step;
  state.validations_since_improvement = 0;
}

}  // namespace bochner
