#pragma once
/// Reductions over the whole batch when it is split into shards, with a pass for each.

#include <span>

namespace bochner {

/// What the passes of all shards have in common, see PassOptions.
class CrossShardReduction {
 public:
  virtual ~CrossShardReduction() = default;
  /// Replaces numbers by their sums over all shards. Each shard calls it at the same places of its
  /// pass.
  virtual void all_reduce(std::span<double> sums) = 0;
  /// Whether the shard of this pass is the one that updates running statistics of the batch.
  virtual bool updates_running_stats() const = 0;
};

}  // namespace bochner
