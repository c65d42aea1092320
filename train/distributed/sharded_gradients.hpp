#pragma once
/// The gradient of a step whose examples are cut into shards: each shard's is computed alone, and
/// all are added up by the tree of the shards.

#include <bochner/train/distributed/gradient_exchange.hpp>
#include <functional>

namespace bochner {

/// A pass through one shard, with its random numbers and observer; it leaves a gradient with the
/// parameters and returns its part of the loss.
using ShardPass = std::function<double(std::size_t shard, const PassOptions& options)>;

class ShardedGradients {
 public:
  /// `crossing` says that passes ask for sums over all shards. The parameters must outlive this.
  ShardedGradients(std::vector<NamedParameter> parameters, std::size_t shards, bool crossing,
                   Processes& processes);

  /// Goes through the shards of this process. -> the loss of all, and the largest stop_requests,
  /// for which all are asked behind their passes; the parameters have their gradients of all.
  ShardResult of(const ShardPass& pass, TapeObserver* observer,
                 const std::function<StopRequests()>& stop_requests = {});
  /// What `pass` says of a shard that it goes through alone: the first text that is not empty.
  std::string first_problem(
      const std::function<std::string(std::size_t shard, const PassOptions&)>& pass);
  const GradientExchange& exchange() const { return exchange_; }

 private:
  /// Gradients of a pass that is not done.
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
  bool crossing_;
  Processes& processes_;
  std::size_t first_, last_;  ///< of the shards of this process, and behind them
  GradientExchange exchange_;
  std::function<StopRequests()> stop_requests_;
};

}  // namespace bochner
