#pragma once
/// Bayesian linear regression with noise of unknown variance: the exact conjugate posterior, and
/// the mean-field one by coordinate ascent. Bishop, "Pattern recognition and machine learning",
/// 2006, sections 3.3, 3.5 and 10.3; exercises 3.12 and 3.23.

#include <bochner/autodiff/real.hpp>
#include <bochner/layers/probability/distributions.hpp>
#include <bochner/layers/probability/variational_mixture.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// targets = inputs w + noise, noise precision ~ Gamma, w ~ N(mean, (noise precision times
/// precision)^-1); prior or posterior.
struct NormalGammaRegression {
  std::vector<double> mean;       ///< (d)
  std::vector<double> precision;  ///< (d, d), positive definite
  GammaDistribution noise = {};
  /// The exact posterior. inputs (n, d), targets (n). Throws std::invalid_argument for shapes.
  NormalGammaRegression posterior(const std::vector<double>& inputs,
                                  const std::vector<double>& targets) const;
  /// The distribution of the target of a row of inputs (d).
  StudentDistribution predictive(const std::vector<double>& row) const;
  /// ln p(targets | inputs) in nats, weights and noise integrated out. Bishop, (3.118).
  double log_evidence(const std::vector<double>& inputs, const std::vector<double>& targets) const;
};

/// q(w) q(noise precision), and the evidence lower bound after each round in nats; never falls.
struct MeanFieldRegression {
  MultivariateNormalDistribution weights;
  GammaDistribution noise;
  std::vector<double> lower_bound;
};
MeanFieldRegression fit_mean_field(const NormalGammaRegression& prior,
                                   const std::vector<double>& inputs,
                                   const std::vector<double>& targets,
                                   const AscentOptions& how = {});

}  // namespace bochner::inline BOCHNER_PRECISION
