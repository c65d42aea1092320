#pragma once
/// Positive features of the Gaussian kernel, weighted. Chen et al., "DiJiang", 2024.

#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/features/frequencies.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// phi(x) = exp(w_i . y - |y|^2) / sqrt(m), y = x / d^(1/4): exp(-|y - y'|^2 / 2) for w ~ N(0, I),
/// of uniform direction and chi_d radius; F = m.
class PositiveFixedFeatures : public FeatureMap {
 public:
  explicit PositiveFixedFeatures(const FeatureSpec& spec) : m_(spec.m), frequencies_(spec) {}
  Features features(Tape& tape, const Var& x) override;
  bool positive() const override { return true; }
  std::optional<double> kernel(Point q, Point k, std::size_t head) const override;
  std::optional<double> variance(Point q, Point k, std::size_t head) const override;
  void visit(Visitor& visitor) override { frequencies_.visit(visitor); }

 private:
  std::size_t m_;
  Frequencies frequencies_;
};

/// The same times lambda_i(x) > 0, a learned weight of each feature that depends on the input: log
/// lambda = V gelu(U y + a) + b per head. It starts at 1. The kernel stays positive definite. F =
/// m.
class WeightedFeatures : public FeatureMap {
 public:
  explicit WeightedFeatures(const FeatureSpec& spec);
  Features features(Tape& tape, const Var& x) override;
  /// ln lambda(x) itself, to look at. (B, T, H, d) -> (B, T, H, m)
  Var log_weights(Tape& tape, const Var& x);
  bool positive() const override { return true; }
  void visit(Visitor& visitor) override;

 private:
  Var network(Tape& tape, const Var& x);
  Frequencies frequencies_;
  Parameter hidden_, hidden_bias_;  // U (H, hidden, d), a (H, hidden)
  Parameter output_, output_bias_;  // V (H, m, hidden), b (H, m)
};

/// The same with constant weights, those of box_weights() for the frequencies at the start, and 1
/// before initialize(). F = m. Redraws would leave the weights behind: the constructor refuses
/// them.
class FixedWeightFeatures : public FeatureMap {
 public:
  explicit FixedWeightFeatures(const FeatureSpec& spec);
  Features features(Tape& tape, const Var& x) override;
  bool positive() const override { return true; }
  void initialized() override;
  void visit(Visitor& visitor) override;

 private:
  std::size_t d_;
  double box_;
  Frequencies frequencies_;
  Tensor log_weight_;  // (H, m)
};

}  // namespace bochner::inline BOCHNER_PRECISION
