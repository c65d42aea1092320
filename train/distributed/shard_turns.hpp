#pragma once
/// The passes of a process's shards where they cross: each is on a thread of its own, and they take
/// turns at what crosses.

#include <bochner/autodiff/cross_shard_reduction.hpp>
#include <bochner/train/distributed/forwarding_observer.hpp>
#include <bochner/train/distributed/processes.hpp>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>

namespace bochner {

/// One shard runs at a time, until it asks for sums over all; then the next one, to the same place.
/// The last one of this process adds them up with those of the others, and it is the first one's
/// turn again.
class ShardTurns : public ForwardingObserver<CrossShardReduction> {
 public:
  /// `began(shard)` is called whenever the turn of a shard begins, on its thread. What is observed
  /// is told on.
  ShardTurns(Processes& processes, std::size_t shards, std::function<void(std::size_t)> began,
             TapeObserver* observer = nullptr);
  /// Calls body(shard) for the shards of this process. What one of them throws ends all of them and
  /// is thrown on.
  void run(const std::function<void(std::size_t shard)>& body);
  void all_reduce(std::span<double> sums) override;
  bool updates_running_stats() const override { return turn_ == first_; }

 private:
  struct Abandoned {};
  void run_one(std::size_t shard, const std::function<void(std::size_t)>& body);
  void wait_for_turn(std::size_t shard);
  void pass_turn();
  void join_all();
  static void require_here(bool all);

  Processes& processes_;
  std::size_t shards_, first_, last_;
  std::function<void(std::size_t)> began_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t turn_;  ///< the shard that runs
  std::size_t joins_ = 0, done_ = 0;
  std::vector<std::span<double>> asked_;  ///< of each shard of this process, for all_reduce()
  std::exception_ptr failure_;
};

}  // namespace bochner
