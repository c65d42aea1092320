#pragma once
/// A task whose model has a latent variable with a prior.

#include <bochner/train/tasks/task.hpp>

namespace bochner {

class LatentTask : public Task {
 public:
  /// Evaluations say the importance-weighted bound of so many draws, where they are more than one.
  virtual void evaluate_by(std::size_t draws) = 0;
  /// What is expected of examples whose latent variables are drawn from the prior, as predict()
  /// says them: functions of the seed and their number.
  virtual NamedArray sample(std::size_t count, std::uint64_t seed) = 0;
  /// Mean and deviation of the latent variable of each example. -> (B, 2 d)
  virtual NamedArray latent(const NamedArray& input) = 0;
  virtual NamedArray latent_of_texts(const std::vector<std::string>& texts) = 0;
};

}  // namespace bochner
