#pragma once
/// Positive features of the Gaussian kernel, weighted. Chen et al., "DiJiang", 2024.

#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/features/frequencies.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The features of pff times lambda_i(x) > 0, a learned weight of each feature that depends on the
/// input: log lambda = V gelu(U y + a) + b per head. It starts at 1. The kernel stays positive
/// definite. F = m.
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
/// before initialize(). F = m. When frequencies have moved, the weights are optimised again: in
/// every `refit`-th training pass (Tape::step), and by calibrate(). No gradient goes through them.
/// Redraws would leave the weights behind: the constructor refuses them.
class FixedWeightFeatures : public FeatureMap {
 public:
  explicit FixedWeightFeatures(const FeatureSpec& spec);
  Features features(Tape& tape, const Var& x) override;
  bool positive() const override { return true; }
  void initialized() override;
  /// Needs no samples, but the density may have started at them.
  void calibrate(const Tensor& q, const Tensor& k) override;
  void visit(Visitor& visitor) override;

 private:
  void fit(const Tensor& frequencies);
  std::size_t d_;
  double box_;
  std::uint64_t refit_;
  Frequencies frequencies_;
  Tensor log_weight_;  // (H, m)
  Tensor fitted_;      // the frequencies that they are of; (): not known
};

}  // namespace bochner::inline BOCHNER_PRECISION
