#pragma once
#include <bochner/optim/optimizer.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Decays of the running mean: in the sign that steps, and in the mean that is kept.
struct SignStep {
  double beta1 = 0.9, beta2 = 0.99;
};
inline void describe(Keys& keys, SignStep& spec) {
  std::vector<double> betas = {spec.beta1, spec.beta2};
  keys("betas", betas, below(0, 1),
       "shares of the running mean of the gradient in the direction of a step, and in the next "
       "mean");
  spec.beta1 = betas.at(0), spec.beta2 = betas.at(1);
}

/// The keys of optim.kind = "lion".
struct LionSpec {
  SignStep lion;
};
inline void describe(Keys& keys, LionSpec& spec) { keys.section("lion", spec.lion); }

}  // namespace bochner::inline BOCHNER_PRECISION
