#pragma once
/// Reductions over the whole batch when it is split into shards with one pass each.

#include <span>

namespace bochner {

/// Shared by the passes of all shards, see PassOptions.
class CrossShardReduction {
 public:
  virtual ~CrossShardReduction() = default;
  /// Replaces `sums` by totals over all shards; all call it at the same point of a pass.
  virtual void all_reduce(std::span<double> sums) = 0;
  /// Returns whether this pass's shard updates the running batch statistics.
  virtual bool updates_running_stats() const = 0;
};

}  // namespace bochner
