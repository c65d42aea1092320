#pragma once
#include <bochner/autodiff/tape.hpp>
#include <map>
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

}  // namespace bochner::inline BOCHNER_PRECISION
