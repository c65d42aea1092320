#pragma once
/// Gradient of a step whose examples are divided into shards: each shard's is computed alone, and
/// all are added by the tree of the shards.

#include <bochner/train/distributed/gradient_exchange.hpp>
#include <functional>

namespace bochner {

/// Pass through one shard with its random numbers and observer; it adds gradients to the parameters
/// and returns its part of the loss.
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
