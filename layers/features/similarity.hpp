#pragma once
/// How alike two vectors are, from 0 to 1, by an inner product of features of its own.

#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/feature_map.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// s(y, y') = c + <f(y), f(y')>, estimated by spec.lambda draws for vectors y = x / d^(1/4).
class Similarity : public Module {
 public:
  /// f. (.., H, d) -> (.., H, n)
  virtual Var features(Tape& tape, const Var& y) = 0;
  /// c
  virtual double constant() const { return 0; }
  struct Moments {
    double mean, square;
  };
  /// E s and E s^2 of a pair; empty where no closed form is known.
  virtual std::optional<Moments> moments(const ScaledPair& pair, std::size_t head) const = 0;
};

/// 1 - angle / pi by the signs of n projections, c = 1/2; with spec.smooth, tanh of learned ones in
/// place of the signs, which pass no gradient. n features.
std::unique_ptr<Similarity> angular_similarity(const FeatureSpec& spec);
/// exp(-|y - y'|^2 / (2 tau^2)), one learned tau per head, by n trigonometric draws; c = 0. 2n
/// features.
std::unique_ptr<Similarity> gaussian_similarity(const FeatureSpec& spec);

}  // namespace bochner::inline BOCHNER_PRECISION
