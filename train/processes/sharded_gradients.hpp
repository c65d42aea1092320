#pragma once
/// The gradient of a step whose examples are cut into shards: each shard's is computed alone, and
/// all are added up by the tree of the shards.

#include <bochner/optim/flat_loop.hpp>
#include <bochner/train/processes/processes.hpp>
#include <functional>

namespace bochner::inline BOCHNER_PRECISION {

/// A pass through one shard, with its random numbers and observer; it leaves a gradient with the
/// parameters and returns its part of the loss.
using ShardPass = std::function<double(std::size_t shard, const PassOptions& options)>;

class ShardedGradients {
 public:
  /// `crossing` says that passes ask for sums over all shards. The parameters must outlive this.
  ShardedGradients(std::vector<NamedParameter> parameters, std::size_t shards, bool crossing,
                   Processes& processes);

  /// Goes through the shards of this process. -> the loss of all; the parameters have their
  /// gradients of all.
  double of(const ShardPass& pass, TapeObserver* observer);
  /// What `pass` says of a shard that it goes through alone: the first text that is not empty.
  std::string first_problem(
      const std::function<std::string(std::size_t shard, const PassOptions&)>& pass);

 private:
  /// Of all parameters, one behind the other, and then 1 for each that has a gradient.
  using Flat = std::vector<real, PoolAllocator<real>>;
  /// Gradients of a pass that is not done.
  struct Set {
    std::vector<Tensor> gradients;
    std::vector<char> filled;
  };

  void pass_in_turns(const ShardPass& pass, TapeObserver* observer, std::vector<double>& losses,
                     std::vector<Flat>& gradients);
  void exchange(Set& set);
  Flat take();
  void put(const Flat& flat);
  void add(Flat& left, const Flat& right) const;

  std::vector<NamedParameter> parameters_;
  std::size_t shards_;
  bool crossing_;
  Processes& processes_;
  FlatLoop loop_;
  std::vector<std::size_t> begins_;  ///< of each parameter in a Flat, and of the marks behind
};

}  // namespace bochner::inline BOCHNER_PRECISION
