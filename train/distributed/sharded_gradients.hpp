#pragma once
/// Gradient of a step whose examples are divided into shards: each shard's is computed alone, and
/// all are added by the tree of the shards.

#include <bochner/autodiff/cross_shard_reduction.hpp>
#include <bochner/train/distributed/gradient_exchange.hpp>
#include <bochner/train/distributed/processes.hpp>
#include <condition_variable>
#include <exception>
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

/// Pass through one shard; adds gradients to the parameters and returns its part of the loss.
using ShardPass = std::function<double(std::size_t shard, const PassOptions& options)>;

class ShardedGradients {
 public:
  /// `crosses_examples`: passes reduce over all shards. The parameters must outlive this.
  ShardedGradients(std::vector<NamedParameter> parameters, std::size_t shards,
                   bool crosses_examples, Processes& processes);

  /// Makes the passes of this process's shards, then asks for its stop requests. Gives all
  /// processes the loss, the stop requests and, in the parameters, the gradients of all shards.
  ShardResult of(const ShardPass& pass, TapeObserver* observer,
                 const std::function<StopRequests()>& stop_requests = {});
  /// Returns the first nonempty problem that `pass` reports for a shard on its own.
  std::string first_problem(
      const std::function<std::string(std::size_t shard, const PassOptions&)>& pass);
  const GradientExchange& exchange() const { return exchange_; }

 private:
  /// Gradients of a shard while other shards run.
  struct Set {
    std::vector<Tensor> gradients;
    std::vector<char> filled;
  };

  void pass_one_by_one(const ShardPass& pass, TapeObserver* observer);
  void pass_in_turns(const ShardPass& pass, TapeObserver* observer);
  void take(std::size_t shard, double loss);
  void exchange(Set& set);

  std::vector<NamedParameter> parameters_;
  std::size_t shards_;
  bool crosses_shards_;
  Processes& processes_;
  std::size_t first_, last_;  ///< shards of this process; last is exclusive
  GradientExchange exchange_;
  std::function<StopRequests()> stop_requests_;
};

}  // namespace bochner
