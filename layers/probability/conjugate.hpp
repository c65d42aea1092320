#pragma once
/// Conjugate families: a prior, what observations make of it, and what it says of the next one.
/// Bishop, "Pattern recognition and machine learning", 2006, sections 2.1 to 2.3; Gelman et al.,
/// "Bayesian data analysis", 2013, chapter 3.

#include <bochner/autodiff/real.hpp>
#include <bochner/layers/probability/distributions.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Of the probability of a success.
struct BetaBernoulli {
  BetaDistribution prior;
  BetaBernoulli seen(std::size_t successes, std::size_t failures) const;
  double predictive() const { return prior.mean(); }
};

/// Of the probabilities of K categories.
struct DirichletCategorical {
  DirichletDistribution prior;
  DirichletCategorical seen(const std::vector<std::size_t>& counts) const;
  CategoricalDistribution predictive() const;
};

/// Of the rate of a Poisson distribution.
struct GammaPoisson {
  GammaDistribution prior;
  GammaPoisson seen(const std::vector<std::size_t>& counts) const;
  /// ln P of the next count, negative binomial.
  double log_predictive(std::size_t count) const;
};

/// Of mean and precision of a normal distribution: precision ~ precision, mean ~ N(mean, 1 /
/// (strength precision)).
struct NormalGamma {
  double mean = 0, strength = 1;
  GammaDistribution precision = {};
  NormalGamma seen(const std::vector<double>& numbers) const;
  StudentDistribution predictive() const;
};

/// The same of d dimensions: precision ~ Wishart(degrees, squares^-1), mean ~ N(mean, (strength
/// precision)^-1). One row is added or taken away in time d^2.
struct NormalWishart {
  std::vector<double> mean;  ///< (d)
  double strength = 1, degrees = 1;
  std::vector<double> squares;  ///< (d, d)
  void add(const double* row) { move(row, 1); }
  /// One that was added.
  void remove(const double* row) { move(row, -1); }
  StudentDistribution predictive() const;
  /// ln of the integral over mean and precision, up to what depends on d alone: ln p(rows) is its
  /// difference before and after them, less n d ln(pi) / 2.
  double log_integral() const;

 private:
  void move(const double* row, double sign);
};

}  // namespace bochner::inline BOCHNER_PRECISION
