#pragma once
/// Mixtures of Gaussians that choose how many they are: Dirichlet processes by Gibbs sampling.

#include <bochner/autodiff/real.hpp>
#include <bochner/layers/probability/conjugate.hpp>
#include <memory>

namespace bochner::inline BOCHNER_PRECISION {

/// Shares by sticks broken at beta ~ Beta(1, concentration), mean and precision of each component
/// from the base.
struct DirichletProcess {
  double concentration = 1;
  NormalWishart base;
};

/// Labels of n rows before anything is seen, numbered as they appear: the Chinese restaurant
/// process. The expected number of different ones is sum_i a / (a + i - 1), i = 1 .. n.
std::vector<std::size_t> restaurant_labels(std::size_t n, double concentration, Draws draws);
/// The first `count` shares of the process: beta_k prod_(l < k) (1 - beta_l).
std::vector<double> stick_lengths(std::size_t count, double concentration, Draws draws);

/// A chain of labels of rows. Its states are functions of the random function and of how many
/// sweeps there were, and do not depend on the number of threads.
class GibbsSampler {
 public:
  virtual ~GibbsSampler() = default;
  /// Draws the label of every row given all others.
  virtual void sweep() = 0;
  /// (n): whose rows are of one component.
  virtual const std::vector<std::size_t>& labels() const = 0;
};

/// Means and precisions integrated out, one row after the other: Neal, "Markov chain sampling
/// methods for Dirichlet process mixture models", 2000, algorithm 3. A sweep takes time n K d^2.
/// rows (n, d)
std::unique_ptr<GibbsSampler> polya_urn(const DirichletProcess& process, std::vector<double> rows,
                                        const RandomFunction& random);
/// Means, precisions and `sticks` shares drawn too, all rows at once: Ishwaran, James, "Gibbs
/// sampling methods for stick-breaking priors", 2001, section 5.2. rows (n, d)
std::unique_ptr<GibbsSampler> stick_breaking(const DirichletProcess& process,
                                             std::vector<double> rows, std::size_t sticks,
                                             const RandomFunction& random);

/// How many components had at least this share of the rows in most of the later half of so many
/// sweeps.
std::size_t count_components(GibbsSampler& sampler, std::size_t sweeps, double least_share);

}  // namespace bochner::inline BOCHNER_PRECISION
