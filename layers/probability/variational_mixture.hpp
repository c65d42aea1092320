#pragma once
/// Bayesian Gaussian mixtures by coordinate ascent: mean-field posteriors of labels, weights, means
/// and precision matrices, in double. Bishop, "Pattern recognition and machine learning", 2006,
/// section 10.2; sticks: Blei, Jordan, "Variational inference for Dirichlet process mixtures",
/// 2006.

#include <bochner/autodiff/real.hpp>
#include <bochner/layers/probability/conjugate.hpp>
#include <bochner/layers/probability/gaussian_mixture.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Weights of K components: Dirichlet(concentration, ..), or sticks broken at Beta(1,
/// concentration), of which the posterior of the labels uses the first K.
enum class WeightPrior { dirichlet, stick_breaking };

struct MixturePrior {
  WeightPrior weights = WeightPrior::dirichlet;
  double concentration = 1;
  NormalWishart base;  ///< of mean and precision of every component
};

/// The prior of scikit-learn's BayesianGaussianMixture: the base has the mean of the rows, strength
/// 1, d degrees and the covariance of the rows over n - 1. rows (n, d), n > d
MixturePrior default_mixture_prior(const std::vector<double>& rows, std::size_t d,
                                   double concentration,
                                   WeightPrior weights = WeightPrior::dirichlet);

struct AscentOptions {
  std::size_t rounds = 1000;  ///< at most
  double tolerance = 1e-10;   ///< it ends where a round gains less, in nats a row
};

/// sum_k share_k t_k(x): the density of the next row.
struct StudentMixture {
  std::vector<double> shares;                   ///< (K), sum to 1
  std::vector<StudentDistribution> components;  ///< (K)
};
/// Returns the posterior of the labels of rows (n, d).
LabelPosterior label_posterior(const StudentMixture& mixture, const std::vector<double>& rows);

/// Factors of the posterior, and the evidence lower bound after each round, in nats.
struct VariationalMixture {
  std::vector<double> responsibilities;       ///< (n, K) of the labels
  DirichletDistribution dirichlet = {};       ///< (K) of the weights; empty with sticks
  std::vector<BetaDistribution> sticks = {};  ///< (K) of the sticks; empty without
  std::vector<NormalWishart> components = {};
  std::vector<double> lower_bound = {};  ///< never falls
  /// Expected weights. Those of sticks are divided by their sum, so that later sticks get none.
  std::vector<double> shares() const;
  StudentMixture predictive() const;
};

/// Ascends from responsibilities (n, K): a round updates weights and components, then labels. rows
/// (n, d). Throws std::invalid_argument for shapes and concentrations, NotPositiveDefinite for a
/// base without positive definite squares. A round takes time n K d^2 + K d^3.
VariationalMixture fit_variational_mixture(const MixturePrior& prior,
                                           const std::vector<double>& rows,
                                           std::vector<double> responsibilities,
                                           const AscentOptions& how = {});

/// Returns E ln p(rows, labels, weights, components) - E ln q with every constant, in nats; at most
/// the log evidence, for any factors. Bishop, (10.70) to (10.77).
double evidence_lower_bound(const MixturePrior& prior, const std::vector<double>& rows,
                            const VariationalMixture& q);

/// Returns responsibilities (n, K) of 0 and 1 from labels (n) below K.
std::vector<double> hard_responsibilities(const std::vector<std::size_t>& labels, std::size_t K);

}  // namespace bochner::inline BOCHNER_PRECISION
