#pragma once
/// Gaussian mixtures with an unknown number of components: Dirichlet processes by Gibbs sampling.

#include <bochner/autodiff/real.hpp>
#include <bochner/layers/probability/conjugate.hpp>
#include <memory>

namespace bochner::inline BOCHNER_PRECISION {

/// Shares of components by stick breaking with beta ~ Beta(1, concentration); mean and precision of
/// each component are drawn from the base. Sethuraman, "A constructive definition of Dirichlet
/// priors", 1994.
struct DirichletProcess {
  double concentration = 1;
  NormalWishart base;
};

/// Draws component labels of n rows from the prior, the Chinese restaurant process, numbered in
/// order of appearance. The expected number of components is sum_i a / (a + i - 1), i = 1 .. n.
std::vector<std::size_t> chinese_restaurant_labels(std::size_t n, double concentration,
                                                   Draws draws);
/// Draws n values from a Polya urn: value i is a new draw of the base with probability
/// concentration / (concentration + i), else a copy of one of the i values so far. Blackwell,
/// MacQueen, "Ferguson distributions via Polya urn schemes", 1973.
template <class Base>
auto polya_urn_values(std::size_t n, double concentration, const Base& base, Draws draws) {
  std::vector<decltype(base.draw(draws))> values;
  for (std::size_t i = 0; i < n; ++i) {
    if (draws.chance(concentration / (concentration + double(i))))
      values.push_back(base.draw(draws));
    else
      values.push_back(values[draws.below(i)]);
  }
  return values;
}
/// Draws the first `count` shares of the process: beta_k prod_(l < k) (1 - beta_l).
std::vector<double> stick_breaking_shares(std::size_t count, double concentration, Draws draws);

/// A Markov chain of the labels of rows. Its state is a function of the random function and of the
/// number of sweeps, with equal bits for any number of threads.
class GibbsSampler {
 public:
  virtual ~GibbsSampler() = default;
  /// Draws the label of every row given all others.
  virtual void sweep() = 0;
  /// The component of each row, from 0; a collapsed sampler leaves no gaps. (n)
  virtual const std::vector<std::size_t>& labels() const = 0;
};

/// Integrates out means and precisions, and draws one row after the other: Neal, "Markov chain
/// sampling methods for Dirichlet process mixture models", 2000, algorithm 3. A sweep takes time n
/// K d^2. rows (n, d)
std::unique_ptr<GibbsSampler> collapsed_gibbs_sampler(const DirichletProcess& process,
                                                      std::vector<double> rows,
                                                      const RandomFunction& random);
/// Draws means, precisions and the shares of `sticks` components too, then all rows at once:
/// Ishwaran, James, "Gibbs
/// sampling methods for stick-breaking priors", 2001, section 5.2. rows (n, d)
std::unique_ptr<GibbsSampler> blocked_gibbs_sampler(const DirichletProcess& process,
                                                    std::vector<double> rows, std::size_t sticks,
                                                    const RandomFunction& random);

/// Returns ln p(labels, rows) under the process, means and precisions integrated out. labels (n)
/// from 0 without gaps, rows (n, d)
double log_joint(const DirichletProcess& process, const std::vector<std::size_t>& labels,
                 const std::vector<double>& rows);
/// Returns the posterior of each component given the labels. -> (K)
std::vector<NormalWishart> component_posteriors(const DirichletProcess& process,
                                                const std::vector<std::size_t>& labels,
                                                const std::vector<double>& rows);

/// Makes so many sweeps. Returns the most frequent number, over the later half, of components that
/// have at least this share of the rows.
std::size_t count_components(GibbsSampler& sampler, std::size_t sweeps, double least_share);

}  // namespace bochner::inline BOCHNER_PRECISION
