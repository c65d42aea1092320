#pragma once
/// Natural gradients of spectral densities, and natural steps of Gaussians.

#include <bochner/autodiff/tape.hpp>
#include <bochner/base/keys.hpp>
#include <map>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns NAME.log_scale of the shape of NAME.mean; null if not a mean or without a scale.
Parameter* log_scale_of(const NamedParameter& mean, const std::vector<NamedParameter>& all);

/// Natural gradients F^-1 g of spectral densities (Amari, 1998). The Fisher matrix F of a Gaussian
/// is diagonal in its mean and log scale: F_mean = exp(-2 log_scale), F_log_scale = 2. In units of
/// F^(-1/2) per parameter F is the identity: an optimizer sees gradients in these units, and its
/// step is converted back. So sgd steps by lr F^-1 g; adam, with one running square per head, moves
/// each coordinate by about lr in that direction: a divergence of lr^2 / 2 nats each, whatever the
/// density's width and the units of its frequencies. Other location-scale families and mixture
/// components use their Gaussian's F.
class NaturalGradient {
 public:
  /// Collects all pairs NAME.mean and NAME.log_scale of one shape (H, .., d). Throws if none.
  explicit NaturalGradient(const std::vector<NamedParameter>& parameters);

  /// Converts the gradients to these units.
  void begin();
  /// Converts the weight changes since begin() back.
  void end();
  /// Returns the root mean square of a head's gradients, one value per element: dividing by it
  /// keeps the direction. Null for parameters that are in no pair.
  const real* root(const Parameter& parameter) const {
    const auto found = pair_of_.find(&parameter);
    return found == pair_of_.end() ? nullptr : pairs_[found->second].root.data();
  }

 private:
  struct Side {
    Parameter* parameter;
    Tensor unit, before;
  };
  struct Pair {
    Side mean, log_scale;
    Tensor root;
  };
  std::vector<Pair> pairs_;
  std::map<const Parameter*, std::size_t> pair_of_;
};

struct NaturalSpec {
  double lr_factor = 10, damping = 0, trust = 0.1;
};
inline void describe(Keys& keys, NaturalSpec& spec) {
  keys("lr_factor", spec.lr_factor, above(0),
       "step size of Gaussians in units of optim.lr; if their product is 1, exact gradients solve "
       "a linear model in one step");
  keys("damping", spec.damping, at_least(0),
       "added to the precision of each number when its mean moves; above 0, steps depend on units");
  keys("trust", spec.trust, above(0),
       "largest KL divergence of a step of a Gaussian, in nats; longer steps are halved");
}

/// Natural gradient steps of Gaussians q = N(m, S) in closed form. In the coordinates (S^-1 m,
/// S^-1), the natural gradient of a loss is its gradient by the moments of q, so a step of size r
/// is S'^-1 = S^-1 + 2 r dloss/dS, m' = m - r S' dloss/dm, in any coordinates of the numbers and of
/// q. For a quadratic loss plus the divergence from a Gaussian prior, one step of size 1 reaches
/// the posterior. Amari, 1998; Khan and Lin, "Conjugate-computation variational inference", 2017;
/// Khan and Rue, "The Bayesian learning rule", 2023.
class GaussianSteps {
 public:
  /// Collects all posteriors, NAME.posterior.factor with the numbers below NAME
  /// (ParameterPosterior), and, for densities without one, the pairs NAME.mean and NAME.log_scale
  /// of one shape. Posteriors' losses are multiplied by `of_posteriors`, from a mean per term to a
  /// sum over all data. `lr_factors` are those of the parameters. Throws if there is no Gaussian,
  /// or if a parameter belongs to several.
  GaussianSteps(const std::vector<NamedParameter>& parameters,
                const std::vector<double>& lr_factors, const NaturalSpec& spec,
                double of_posteriors);
  /// Computes the target of a step of this size from the current gradients.
  void begin(double size);
  /// Moves to the target, whatever the parameters are now.
  void end();

 private:
  struct Gaussian {
    std::vector<Parameter*> means;
    Parameter* factor;  // (n, n): L of S = L L^T, its diagonal as logarithms; or that diagonal only
    double lr_factor, times;
    bool is_full;
    bool moves = false;
    std::vector<double> mean = {}, root = {};  // target of the step
  };
  /// Gradients of the means, and M = 2 L^T dloss/dS L: (n, n), or its diagonal.
  struct Slopes {
    std::vector<double> mean, spread;
  };
  void add_posterior(const std::vector<NamedParameter>& all, std::size_t factor,
                     const std::vector<double>& lr_factors, double times);
  Slopes slopes_of(const Gaussian& one) const;
  /// Computes the target; returns false if it is not a Gaussian or too far.
  bool move_diagonal(Gaussian& one, const Slopes& slopes, double size) const;
  bool move_full(Gaussian& one, const Slopes& slopes, double size) const;

  NaturalSpec spec_;
  std::vector<Gaussian> all_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
