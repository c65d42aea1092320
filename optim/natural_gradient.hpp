#pragma once
#include <bochner/autodiff/tape.hpp>
#include <map>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// The parameter NAME.log_scale of the shape of NAME.mean; null if this is no mean, or has none.
Parameter* log_scale_of(const NamedParameter& mean, const std::vector<NamedParameter>& all);

/// Natural gradients of spectral densities (Amari, 1998): F^-1 g, F the Fisher matrix, which in the
/// mean and the log scale of a Gaussian is diagonal, F_mean = exp(-2 log_scale) and F_log_scale
/// = 2. In the units F^(-1/2) of each parameter F is the identity: gradients are handed to an
/// optimizer in these units, and its step is taken back from them. So sgd steps by lr F^-1 g; adam,
/// which divides by one running square for each head, by about lr a coordinate in that direction:
/// lr^2 / 2 nats of divergence each, however wide the density is and in whatever units its
/// frequencies are. For other families of location and scale, and for each component of a mixture,
/// it is their Gaussian's F.
class NaturalGradient {
 public:
  /// All pairs NAME.mean and NAME.log_scale of one shape (H, .., d) among these. Throws without
  /// any.
  explicit NaturalGradient(const std::vector<NamedParameter>& parameters);

  /// Brings the gradients into these units.
  void begin();
  /// Takes the changes of the weights since begin() out of them.
  void end();
  /// Root of the mean square of the gradient over all that a head learns here, in the places of its
  /// elements: what an optimizer that divides by it keeps the direction with. Null for parameters
  /// that are in no pair.
  const real* root(const Parameter& parameter) const;

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

}  // namespace bochner::inline BOCHNER_PRECISION
