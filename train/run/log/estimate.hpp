#pragma once
#include <bochner/autodiff/real.hpp>
#include <cstdint>
#include <string>

namespace bochner {

class Session;

/// What a training will take, as the forward pass of its next batch tells, which changes nothing.
struct TrainingEstimate {
  std::uint64_t bytes = 0;  ///< of tensors at once: weights, moments, activations, gradients
  std::uint64_t steps = 0;  ///< that are left
  double seconds = 0;       ///< for all of them, with their validations
};
TrainingEstimate estimate_training(Session& session);
/// "about 210 MB of memory, 0:12 for 300 steps"
std::string words_of(const TrainingEstimate& estimate);

}  // namespace bochner
