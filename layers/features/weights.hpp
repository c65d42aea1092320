#pragma once
/// Weights lambda over the features of any map: (1/m) sum_i lambda_i(x) lambda_i(y) z_i(x) z_i(y).

#include <bochner/layers/features/frequencies.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// A map whose features are multiplied by lambda_i(x) > 0: its kernel stays positive definite, and
/// is the map's own at lambda = 1. Features of one frequency (its cosine and sine, its products in
/// a hybrid) share a weight; maps without frequencies have one for each feature, `hybrid` for each
/// of its estimators' features.
class WeightedMap : public FeatureMap {
 public:
  explicit WeightedMap(std::unique_ptr<FeatureMap> map) : map_(std::move(map)) {}
  Features features(Tape& tape, const Var& x) final;
  Features queries(Tape& tape, const Var& q, std::size_t first) final;
  Features keys(Tape& tape, const Var& k, std::size_t first) final;
  bool positive() const override { return map_->positive(); }
  bool has_signed_features() const final { return map_->has_signed_features(); }
  Frequencies* frequencies() final { return map_->frequencies(); }
  bool even() const final { return map_->even(); }
  void calibrate(const Tensor& q, const Tensor& k) override { map_->calibrate(q, k); }
  bool needs_calibration() const override { return map_->needs_calibration(); }
  void initialized() override { map_->initialized(); }
  void visit(Visitor& visitor) override { map_->visit(visitor); }

  FeatureMap& map() { return *map_; }

 protected:
  /// ln lambda: a constant part (H, n) and one of each token (B, T, H, n), either may be left out;
  /// feature f has weight f mod n.
  struct LogWeights {
    Var constant, by_token;
  };
  virtual LogWeights log_weights_of(Tape&, const Var&) { return {}; }
  /// The map's features of x times their weights.
  virtual Features weighted(Tape& tape, const Var& x, Features features);
  const FeatureMap& map() const { return *map_; }

 private:
  std::unique_ptr<FeatureMap> map_;
};

/// log lambda = V gelu(U y + a) + b per head, y = x / d^(1/4): learned weights that depend on the
/// input and start at 1. Chen et al., "DiJiang", 2024.
class LearnedWeights : public WeightedMap {
 public:
  LearnedWeights(std::unique_ptr<FeatureMap> map, const FeatureSpec& spec);
  /// Weights of single features keep a sum positive only where no feature has a sign.
  bool positive() const override { return !map().has_signed_features(); }
  /// ln lambda(x) itself, to look at. (B, T, H, d) -> (B, T, H, n)
  Var log_weights(Tape& tape, const Var& x);
  void visit(Visitor& visitor) override;

 protected:
  LogWeights log_weights_of(Tape& tape, const Var& x) override;

 private:
  Parameter hidden_, hidden_bias_;  // U (H, hidden, d), a (H, hidden)
  Parameter output_, output_bias_;  // V (H, n, hidden), b (H, n)
};

/// lambda(x) = 1 / mean_i phi_i(x), the same for all features of a token: an exponential map then
/// has the softmax of its exponents. Its mean is an estimate of SM(x, 0) = 1, known exactly, so
/// that this is the ratio estimator of the same kernel: consistent, its bias O(1 / m), and no key
/// outweighs the others by the luck of its draws. Where all are 0, they stay it. For positive maps;
/// Chen et al., "DiJiang", 2024, have it in their code.
class NormalizedWeights : public WeightedMap {
 public:
  NormalizedWeights(std::unique_ptr<FeatureMap> map, const FeatureSpec& spec);

 protected:
  Features weighted(Tape& tape, const Var& x, Features features) override;
};

/// Constant weights, those of box_weights() for the frequencies at the start, and 1 before
/// initialize(). When frequencies have moved, the weights are optimised again: in every `refit`-th
/// training pass (Tape::step), and by calibrate(). No gradient goes through them. Redraws would
/// leave the weights behind: the constructor refuses them.
class FixedWeights : public WeightedMap {
 public:
  FixedWeights(std::unique_ptr<FeatureMap> map, const FeatureSpec& spec);
  void initialized() override;
  /// The map, then the weights: they need no samples, but the density may have started at them.
  void calibrate(const Tensor& q, const Tensor& k) override;
  void visit(Visitor& visitor) override;

 protected:
  LogWeights log_weights_of(Tape& tape, const Var& x) override;

 private:
  void fit();

  double box_;
  std::uint64_t refit_;
  Tensor log_weight_;  // (H, m)
  Tensor fitted_;      // the frequencies that they are of; (): not known
};

/// Importance sampling: frequencies w_i of the density's Proposal q, lambda_i^2 = p(w_i) / q(w_i).
/// Without bias for whatever the map estimates with p.
class ImportanceWeights : public WeightedMap {
 public:
  ImportanceWeights(std::unique_ptr<FeatureMap> map, const FeatureSpec& spec);
  std::optional<double> kernel(Point q, Point k, std::size_t head) const override {
    return map().kernel(q, k, head);
  }
  /// For p = N(0, I) and a Gaussian q.
  std::optional<double> variance(Point q, Point k, std::size_t head) const override;
  /// Of the m frequencies in use, see effective_sample_size().
  double effective_size(std::size_t head);
  /// Sets a Gaussian q's scale to that of least error of attention's weights on the samples.
  void calibrate(const Tensor& q, const Tensor& k) override;

 protected:
  LogWeights log_weights_of(Tape& tape, const Var& x) override;

 private:
  SpectralDensity& proposal() const { return frequencies_->proposal()->density(); }

  std::size_t m_;
  Frequencies* frequencies_;  // of the map
};

/// The map with the weights that spec.weights names.
std::unique_ptr<FeatureMap> weighted_map(std::unique_ptr<FeatureMap> map, const FeatureSpec& spec);

}  // namespace bochner::inline BOCHNER_PRECISION
