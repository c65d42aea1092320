#pragma once
/// Natural gradients of all weights by conjugate gradients.

#include <bochner/autodiff/tape.hpp>
#include <bochner/base/keys.hpp>
#include <functional>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns F v, F the Fisher matrix of a loss and v of the shapes of an optimizer's parameters; see
/// fisher_product(). May overwrite their gradients.
using FisherProduct = std::function<std::vector<Tensor>(const std::vector<Tensor>& v)>;

struct NaturalCgSpec {
  double damping = 1e-3, trust = 0;
  std::size_t iterations = 20;
};
inline void describe(Keys& keys, NaturalCgSpec& spec) {
  keys("damping", spec.damping, at_least(0), "added to the diagonal of the Fisher matrix");
  keys("iterations", spec.iterations, at_least(1),
       "conjugate gradient iterations of a step; each one costs about two gradients");
  keys("trust", spec.trust, at_least(0),
       "largest lr^2 d^T F d / 2 of a step, to second order its KL divergence for a likelihood in "
       "nats; longer steps are scaled; 0 for no limit");
}

/// Replaces the gradients g of parameters by d = (F + damping I)^-1 g, solved from zero and scaled
/// so that `learning_rate` d is within the trust region. Parameters without a gradient are fixed:
/// F has no rows of theirs. Amari, "Natural gradient works efficiently in learning", 1998; Martens,
/// "Deep learning via Hessian-free optimization", 2010.
void to_natural_gradients(const std::vector<NamedParameter>& parameters,
                          const FisherProduct& fisher, const NaturalCgSpec& spec,
                          double learning_rate);

}  // namespace bochner::inline BOCHNER_PRECISION
