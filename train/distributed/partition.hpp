#pragma once
/// The moments of an optimizer, cut among processes: each updates its part of the weights.

#include <bochner/optim/optimizer.hpp>
#include <bochner/train/distributed/processes.hpp>

namespace bochner {

class OptimizerPartition {
 public:
  /// All must outlive it.
  OptimizerPartition(Optimizer& optimizer, std::vector<NamedParameter> parameters,
                     Processes& processes);

  /// Keeps the part of this process; moments must be whole.
  void cut();
  /// After a step: gives all processes the weights that each of them has updated.
  void share_weights();
  /// All moments, at the first process, until it cuts them again; nothing where they are whole.
  void gather();

 private:
  std::size_t begin_of(std::size_t process) const {
    return process * optimizer_.elements() / processes_.size();
  }
  void exchange_moments(std::size_t process);

  Optimizer& optimizer_;
  std::vector<NamedParameter> parameters_;
  Processes& processes_;
  FlatLoop loop_;
};

}  // namespace bochner
