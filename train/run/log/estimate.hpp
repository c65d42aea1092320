#pragma once
#include <bochner/autodiff/real.hpp>
#include <cstdint>
#include <string>

namespace bochner {

class Session;

/// Estimate of training from a forward pass of its next batch, which changes nothing.
struct TrainingEstimate {
  std::uint64_t bytes = 0;  ///< of all tensors: weights, moments, activations, gradients
  std::uint64_t steps = 0;  ///< remaining
  double seconds = 0;       ///< of the remaining steps and their validations
};
TrainingEstimate estimate_training(Session& session);
/// "about 210 MB of memory, 0:12 for 300 steps"
std::string words_of(const TrainingEstimate& estimate);

}  // namespace bochner
