#pragma once
/// Everything a run needs to go on bit for bit, besides its tensors and its config.

#include <algorithm>
#include <bochner/train/run/format_version.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
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

/// Random numbers, data order and learning rate are functions of these integers.
struct TrainerState {
  std::uint32_t version = format_version;
  std::uint64_t step = 0;      ///< optimizer steps asked for; the clock of schedules and periods
  std::uint64_t examples = 0;  ///< the data position: windows consumed since the start
  std::uint64_t tokens = 0;
  std::uint64_t optimizer_steps = 0;
  std::uint64_t ema_steps = 0;
  std::uint64_t seed = 0;
  std::uint64_t data_fingerprint = 0;
  /// The last validation that was better by train.stop.min_delta, from which patience counts.
  double improved_metric = std::numeric_limits<double>::infinity();
  std::uint64_t improved_step = 0;
  std::uint64_t validated_step = 0;  ///< the last step whose validation is done
  std::uint64_t validations_since_improvement = 0;
  double loss_sum = 0;  ///< since the last line of metrics
  std::uint64_t loss_count = 0;
  std::uint64_t metrics_bytes = 0;  ///< size of metrics.jsonl; what is beyond is cut on resume
  double wall_seconds = 0;  ///< in training steps, over all legs of the run; for display only
  std::vector<BestCheckpoint> best;  ///< by the lowest loss, best first; retention keeps these
  std::string numerics;              ///< compiler, instruction set, backend; compared on resume
  std::vector<std::uint32_t> metrics_digests = {};  ///< of metrics.jsonl, see LineDigests
  std::uint64_t metrics_lines = 1;                  ///< lines of each digest
  std::string metrics_waiting = {};                 ///< lines that the disk did not take
  /// What the system says of the files that the fingerprint is of; 0 for small ones.
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

/// Enters the metric of state.step into the list of the `keep` best, at least one; ties go to the
/// earlier step and what is not a number is left out.
inline void record_best(TrainerState& state, double metric, std::size_t keep) {
  if (std::isnan(metric)) return;
  std::erase_if(state.best, [&](const BestCheckpoint& entry) { return entry.step == state.step; });
  const auto worse = [](double value, const BestCheckpoint& entry) { return value < entry.metric; };
  const auto place = std::upper_bound(state.best.begin(), state.best.end(), metric, worse);
  state.best.insert(place, {state.step, metric});
  state.best.resize(std::min(state.best.size(), std::max<std::size_t>(keep, 1)));
}

/// Counts the validation of state.step for early stopping: only one that is better by more than
/// `min_delta` counts from 0 again.
inline void record_improvement(TrainerState& state, double metric, double min_delta) {
  ++state.validations_since_improvement;
  if (!(metric < state.improved_metric - min_delta)) return;
  state.improved_metric = metric;
  state.improved_step = state.step;
  state.validations_since_improvement = 0;
}

}  // namespace bochner
