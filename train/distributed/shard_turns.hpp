#pragma once
/// Passes of a process's shards that can reduce over the whole batch.

#include <bochner/autodiff/cross_shard_reduction.hpp>
#include <bochner/train/distributed/processes.hpp>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>

namespace bochner {

/// Cooperative threads, one per pass, of which one runs at a time: until it reduces, then the next
/// shard's, to the same place. The last one adds up the numbers of all shards and processes by
/// their tree, and the first one continues.
class ShardTurns : public CrossShardReduction {
 public:
  /// Calls `began(shard)` whenever a shard begins or continues, on its thread.
  ShardTurns(Processes& processes, std::size_t shards, std::function<void(std::size_t)> began);
  /// Calls body(shard) for the shards of this process. If one throws, all end and it is rethrown.
  void run(const std::function<void(std::size_t shard)>& body);
  void all_reduce(std::span<double> sums) override;
  bool updates_running_stats() const override { return turn_ == first_; }

 private:
  struct Abandoned {};
  void run_one(std::size_t shard, const std::function<void(std::size_t)>& body);
  void wait_for_turn(std::size_t shard);
  void pass_turn();
  void add_up();

  Processes& processes_;
  std::size_t shards_, first_, last_;  ///< of this process; last is exclusive
  std::function<void(std::size_t)> began_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t turn_;  ///< running shard
  std::size_t reductions_ = 0, done_ = 0;
  std::vector<std::span<double>> sums_;  ///< per shard of this process
  std::exception_ptr failure_;
};

}  // namespace bochner
