#pragma once
/// Exponential moving average of the weights.

#include <bochner/autodiff/tape.hpp>
#include <bochner/optim/flat_loop.hpp>
#include <optional>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

class WeightAverage {
 public:
  static constexpr const char* prefix = "ema/";

  /// Starts at the present weights. The parameters must outlive the average.
  explicit WeightAverage(std::vector<NamedParameter> parameters);
  /// Where it is in the weights, it stays there, and they may be trained again.
  ~WeightAverage();
  WeightAverage(WeightAverage&&) = default;

  /// average = d * average + (1 - d) * weights with d = min(decay, (1 + n) / (10 + n)) after n
  /// updates, so that the initial weights are forgotten within the first tens of updates.
  void update(double decay, std::uint64_t n);
  /// Exchanges the average and the live weights; once more undoes it. While they are exchanged the
  /// average can be neither updated nor saved, and no optimizer steps.
  void swap();
  bool swapped() const { return swapped_; }

  /// Everything but the number of updates that a checkpoint needs: each average under `prefix` and
  /// the name of its parameter.
  std::vector<NamedTensor> state();

 private:
  void require_same_shapes() const;

  std::vector<NamedParameter> parameters_;
  std::vector<Tensor> averages_;
  FlatLoop loop_;
  bool swapped_ = false;
};

/// The average, if there is one, in the place of the live weights as long as this lives.
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
