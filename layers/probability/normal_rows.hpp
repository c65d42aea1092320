#pragma once
/// Normal distributions of latent variables, one per row, with gradients by
/// reparameterisation or, for losses without a gradient, by the score function.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// N(mean, exp(log_variance)) for each row and dimension. (B, d), (B, d)
struct NormalRows {
  Var mean, log_variance;
};

/// KL(q || N(0, I)) of each dimension in nats: (mean^2 + variance - 1 - ln variance) / 2; Kingma
/// and Welling, "Auto-encoding variational Bayes", 2014, appendix B. -> (B, d)
Var kl_divergence(const NormalRows& q);
/// mean + deviation noise: gradients by reparameterisation. noise (K, B, d) -> (K, B, d)
Var points(const NormalRows& q, const Tensor& noise);
/// ln q of points, which have no gradient. z (K, B, d) -> (K, B)
Var log_density(const NormalRows& q, const Tensor& z);

/// 0, with the gradient of the mean of rewards over draws of q by the score function: the mean over
/// k and b of (reward - baseline) times that of ln q(z_kb). The baseline is the mean over the other
/// draws of the row, which leaves the gradient without bias (Williams, 1992; Kool, van Hoof,
/// Welling, "Buy 4 REINFORCE samples, get a baseline for free!", 2019). log_density, rewards (K,
/// B), K > 1 -> ()
Var score_term(const Var& log_density, const Tensor& rewards);

}  // namespace bochner::inline BOCHNER_PRECISION
