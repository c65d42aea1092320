#pragma once
/// Partition of an optimizer's moments among processes: each updates its part of the weights.

#include <bochner/optim/optimizer.hpp>
#include <bochner/train/distributed/processes.hpp>

namespace bochner {

class OptimizerPartition {
 public:
  /// All arguments must outlive the partition.
  OptimizerPartition(Optimizer& optimizer, std::vector<NamedParameter> parameters,
                     Processes& processes);

  /// Keeps this process's part; moments must be whole.
  void cut() { optimizer_.keep(begin_of(processes_.rank()), begin_of(processes_.rank() + 1)); }
  /// Sends the weights that each process has updated to all, after a step.
  void share_weights();
  /// Gathers all moments in the first process until it cuts them again, unless they are whole.
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
