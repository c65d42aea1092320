#pragma once
/// What crosses the examples of a batch, where they are cut into shards with a pass each.

#include <bochner/autodiff/tape.hpp>
#include <span>

namespace bochner::inline BOCHNER_PRECISION {

/// Observes the passes of all shards, which find it on their tapes.
struct CrossShardReduction : TapeObserver {
  /// Replaces numbers by their sums over all shards, of which each is at the same place of its
  /// pass.
  virtual void all_reduce(std::span<double> sums) = 0;
  /// Whether the shard of this pass is the one that moves running moments of the batch.
  virtual bool updates_running_stats() const = 0;
};

/// Null where a batch is not cut.
inline CrossShardReduction* cross_shard_reduction_of(const PassOptions& pass) {
  return dynamic_cast<CrossShardReduction*>(pass.observer);
}

}  // namespace bochner::inline BOCHNER_PRECISION
