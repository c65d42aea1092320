#pragma once
/// Similarities of two vectors, from 0 to 1, as inner products of features.

#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/feature_map.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// s(y, y') = c + <f(y), f(y')>, estimated by spec.lambda draws, for y = x / d^(1/4).
class Similarity : public Module {
 public:
  /// Computes f. (.., H, d) -> (.., H, n)
  virtual Var features(Tape& tape, const Var& y) = 0;
  /// Returns c.
  virtual double constant() const { return 0; }
  struct Moments {
    double mean, square;
  };
  /// Returns E s and E s^2 of a pair; empty without a closed form.
  virtual std::optional<Moments> moments(const ScaledPair& pair, std::size_t head) const = 0;
};

/// Makes 1 - angle / pi by the signs of n projections, c = 1/2, n features; with spec.smooth, tanh
/// of learned projections, as signs pass no gradient.
std::unique_ptr<Similarity> angular_similarity(const FeatureSpec& spec);
/// Makes exp(-|y - y'|^2 / (2 tau^2)) by n trigonometric draws, tau learned; c = 0, 2n features.
std::unique_ptr<Similarity> gaussian_similarity(const FeatureSpec& spec);

}  // namespace bochner::inline BOCHNER_PRECISION
