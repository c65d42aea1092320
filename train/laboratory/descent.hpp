#pragma once
/// Gradient descent as studies do it: Adam, gradients clipped to the norm 1.

#include <bochner/layers/module.hpp>
#include <functional>

namespace bochner::inline BOCHNER_PRECISION {

struct Descent {
  std::uint64_t steps;
  double learning_rate;  ///< falls to 0 as half a cosine
  std::uint64_t warmup;  ///< steps
};

/// The loss () of each step, which is minimised.
std::vector<double> descend(const std::vector<NamedParameter>& parameters, const Descent& descent,
                            const std::function<Var(Tape& tape, std::uint64_t step)>& loss);

}  // namespace bochner::inline BOCHNER_PRECISION
