#pragma once

#include <bochner/autodiff/tape.hpp>
#include <bochner/optim/flat_loop.hpp>
#include <optional>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

class WeightAverage {
 public:
  static constexpr const char* prefix = "ema/";

  /// Starts at the current weights. The parameters must outlive the average.
  explicit WeightAverage(std::vector<NamedParameter> parameters);
  /// If swapped in, leaves the average in the weights and makes them trainable again.
  ~WeightAverage();
  WeightAverage(WeightAverage&&) = default;

  /// Updates average = d * average + (1 - d) * weights with d = min(decay, (1 + n) / (10 + n))
  /// after n updates, so that the initial weights are forgotten within tens of updates.
  void update(double decay, std::uint64_t n);
  /// Updates average += share (weights - average) with the share of each parameter.
  void update(const std::vector<double>& shares);
  /// Exchanges the average and the live weights; a second call restores them. While exchanged, the
  /// average can be neither updated nor saved, and optimizers refuse to step.
  void swap();
  bool swapped() const { return swapped_; }

  /// Returns the state for a checkpoint without the number of updates: each average under `prefix`
  /// and the name of its parameter.
  std::vector<NamedTensor> state();

 private:
  void require_same_shapes() const;

  std::vector<NamedParameter> parameters_;
  std::vector<Tensor> averages_;
  FlatLoop loop_;
  bool swapped_ = false;
};

/// Swaps the average, if given, in for the lifetime of this object.
class AverageInUse {
 public:
  explicit AverageInUse(std::optional<WeightAverage>& average) : average_(average) {
    if (average_) average_->swap();
  }
  ~AverageInUse() {
    if (average_) average_->swap();
  }
  AverageInUse(const AverageInUse&) = delete;
  AverageInUse& operator=(const AverageInUse&) = delete;

 private:
  std::optional<WeightAverage>& average_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
