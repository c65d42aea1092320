#pragma once
/// Hybrid random features: lambda SM_1 + (1 - lambda) SM_2 of two estimators of the softmax kernel,
/// lambda(x, y) = a + <xi(x), eta(y)> estimated by draws of its own, so that the whole is an inner
/// product of features: all products of (xi, sqrt(a)) with phi_1 and of (xi, sqrt(1 - a)) with
/// phi_2, that second xi negative for queries. Signed. Choromanski et al., "Hybrid random
/// features", 2022.

#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/features/frequencies.hpp>

namespace bochner::inline BOCHNER_PRECISION {

class HybridFeatures : public TwoSidedMap {
 public:
  explicit HybridFeatures(const FeatureSpec& spec) : m_(spec.m), frequencies_(spec) {}
  std::optional<double> kernel(Point q, Point k, std::size_t head) const override;
  std::optional<double> variance(Point q, Point k, std::size_t head) const override;
  void visit(Visitor& visitor) override { frequencies_.visit(visitor); }

 protected:
  /// E lambda, E lambda^2 of a pair.
  struct LambdaMoments {
    double mean, square;
  };
  virtual std::optional<LambdaMoments> lambda_of(const ScaledPair& pair,
                                                 std::size_t head) const = 0;
  /// xi, or eta with its sign, of y. (.., H, d) -> (.., H, n)
  virtual Var lambda_features(Tape& tape, const Var& y, Side side) = 0;
  /// Whether lambda multiplies the hyperbolic estimator and 1 - lambda the trigonometric one, or
  /// the other way round; and a.
  virtual bool lambda_on_hyperbolic() const = 0;
  virtual double constant() const = 0;

  Features side(Tape& tape, const Var& x, Side side, std::size_t first) override;

 private:
  std::size_t m_;
  Frequencies frequencies_;
};

/// lambda = angle / pi, estimated by the signs of n projections: hyperbolic features for opposite
/// vectors, trigonometric ones for parallel vectors; exact at angles 0 and pi for equal lengths. F
/// = 4 m (n + 1). With `smooth`, tanh of learned projections in place of the signs, which pass no
/// gradient.
class AngularHybrid : public HybridFeatures {
 public:
  explicit AngularHybrid(const FeatureSpec& spec);
  void visit(Visitor& visitor) override;

 protected:
  std::optional<LambdaMoments> lambda_of(const ScaledPair& pair, std::size_t head) const override;
  Var lambda_features(Tape& tape, const Var& y, Side side) override;
  bool lambda_on_hyperbolic() const override { return true; }
  double constant() const override { return 0.5; }

 private:
  std::size_t n_;
  bool smooth_;
  Tensor directions_;            // (H, n, d), without `smooth`
  Parameter smooth_directions_;  // (H, n, d), with it
};

/// lambda = exp(-|y - y'|^2 / (2 tau^2)), one learned tau per head, by n trigonometric draws:
/// trigonometric features for near vectors, hyperbolic ones for others.
/// F = 4 m (2 n + 1), of which 2 m are zero.
class GaussianHybrid : public HybridFeatures {
 public:
  explicit GaussianHybrid(const FeatureSpec& spec);
  void visit(Visitor& visitor) override;

 protected:
  std::optional<LambdaMoments> lambda_of(const ScaledPair& pair, std::size_t head) const override;
  Var lambda_features(Tape& tape, const Var& y, Side side) override;
  bool lambda_on_hyperbolic() const override { return false; }
  double constant() const override { return 0; }

 private:
  std::size_t n_;
  Tensor noise_;       // (H, n, d)
  Parameter log_tau_;  // (H, 1, 1)
};

}  // namespace bochner::inline BOCHNER_PRECISION
