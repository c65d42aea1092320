#pragma once
/// Conjugate families: a prior, its posterior given observations, and the predictive distribution
/// of the next observation. Bishop, "Pattern recognition and machine learning", 2006, sections 2.1
/// to 2.3; Gelman et al., "Bayesian data analysis", 2013, chapter 3.

#include <bochner/autodiff/real.hpp>
#include <bochner/layers/probability/distributions.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Beta(a, b) on the probability of a success; the posterior is Beta(a + successes, b + failures).
/// Bishop, (2.18).
struct BetaBernoulli {
  BetaDistribution prior;
  BetaBernoulli posterior(std::size_t successes, std::size_t failures) const {
    return {{prior.a + double(successes), prior.b + double(failures)}};
  }
  /// The probability that the next one is a success, a / (a + b).
  double predictive() const { return prior.mean(); }
};

/// Dirichlet(a) on the probabilities of K categories; the posterior is Dirichlet(a + counts).
/// Bishop, (2.41).
struct DirichletCategorical {
  DirichletDistribution prior;
  DirichletCategorical posterior(const std::vector<std::size_t>& counts) const {
    DirichletCategorical after = *this;
    for (std::size_t k = 0; k < counts.size(); ++k) after.prior.a[k] += double(counts[k]);
    return after;
  }
  /// a / sum a
  CategoricalDistribution predictive() const {
    CategoricalDistribution next{prior.a};
    for (double& p : next.p) p /= prior.total();
    return next;
  }
};

/// Gamma(shape, rate) on the rate of a Poisson distribution; the posterior of n counts is
/// Gamma(shape + sum of counts, rate + n). Gelman et al., section 2.6.
struct GammaPoisson {
  GammaDistribution prior;
  GammaPoisson posterior(const std::vector<std::size_t>& counts) const;
  /// ln P of the next count, which is negative binomial.
  double log_predictive(std::size_t count) const {
    const double k = double(count), a = prior.shape, b = prior.rate;
    return std::lgamma(a + k) - std::lgamma(a) - std::lgamma(k + 1) - a * std::log1p(1 / b) -
           k * std::log1p(b);
  }
};

/// Pareto(shape, scale) on the upper end b of numbers that are uniform on (0, b); the posterior of
/// n numbers is Pareto(shape + n, max(scale, numbers)). DeGroot, "Optimal statistical decisions",
/// 1970, section 9.7.
struct ParetoUniform {
  ParetoDistribution prior;
  ParetoUniform posterior(const std::vector<double>& numbers) const;
  /// ln p of the next number: uniform up to scale, with a tail like a Pareto distribution's.
  double log_predictive(double x) const;
};

/// The normal-gamma distribution on mean and precision of a normal one: precision ~ Gamma, mean ~
/// N(mean, 1 / (strength precision)). Bishop, (2.149) to (2.154).
struct NormalGamma {
  double mean = 0, strength = 1;
  GammaDistribution precision = {};
  NormalGamma posterior(const std::vector<double>& numbers) const;
  /// Student's t with 2 shape degrees of freedom.
  StudentDistribution predictive() const {
    return {2 * precision.shape,
            {mean},
            {precision.rate / precision.shape * (strength + 1) / strength}};
  }
};

/// The normal-Wishart distribution on mean and precision matrix of a normal one in d dimensions:
/// precision ~ Wishart(degrees, squares^-1), mean ~ N(mean, (strength precision)^-1). Bishop,
/// (2.157). A row is added or removed in time d^2.
struct NormalWishart {
  std::vector<double> mean;  ///< (d)
  double strength = 1, degrees = 1;
  std::vector<double> squares;  ///< (d, d)
  /// Becomes the posterior of one more row (d).
  void add(const double* row) { move(row, 1); }
  /// Undoes add() of this row, up to rounding.
  void remove(const double* row) { move(row, -1); }
  /// The posterior of rows of this total weight, weighted mean (d) and scatter about it (d, d).
  NormalWishart posterior(double weight, const std::vector<double>& centre,
                          const std::vector<double>& scatter) const;
  /// The marginal distribution of the precision matrix. Throws NotPositiveDefinite.
  WishartDistribution precision() const;
  /// The expected covariance, squares / (degrees - d - 1). -> (d, d)
  std::vector<double> expected_covariance() const;
  /// Student's t with degrees - d + 1 degrees of freedom. Gelman et al., section 3.6.
  StudentDistribution predictive() const;
  /// ln of the normalising integral over mean and precision, up to a constant of d alone: ln p of n
  /// rows is its difference after and before they are added, less n d ln(pi) / 2.
  double log_integral() const;

 private:
  void move(const double* row, double sign);
};

/// KL(p || q) in nats: of the precision matrices, and of the means given the precision on average.
double kl_divergence(const NormalWishart& p, const NormalWishart& q);

}  // namespace bochner::inline BOCHNER_PRECISION
