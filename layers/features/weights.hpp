#pragma once
/// Weights lambda on the features of any map: (1/m) sum_i lambda_i(x) lambda_i(y) z_i(x) z_i(y).

#include <bochner/layers/features/frequencies.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Map whose features are multiplied by lambda_i(x) > 0: the kernel stays positive definite, and
/// unchanged for lambda = 1. Features of one frequency (cosine and sine, products in a hybrid)
/// share a weight; maps without frequencies, and estimators of `hybrid`, have one per feature.
class WeightedMap : public FeatureMap {
 public:
  explicit WeightedMap(std::unique_ptr<FeatureMap> map) : map_(std::move(map)) {}
  Features features(Tape& tape, const Var& x) final {
    return weighted(tape, x, map_->features(tape, x));
  }
  Features queries(Tape& tape, const Var& q, std::size_t first) final {
    return weighted(tape, q, map_->queries(tape, q, first));
  }
  Features keys(Tape& tape, const Var& k, std::size_t first) final {
    return weighted(tape, k, map_->keys(tape, k, first));
  }
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
  /// ln lambda: a constant (H, n) and a part per token (B, T, H, n), each optional; feature f has f
  /// mod n.
  struct LogWeights {
    Var constant, by_token;
  };
  virtual LogWeights log_weights_of(Tape&, const Var&) { return {}; }
  /// Multiplies the map's features of x by their weights.
  virtual Features weighted(Tape& tape, const Var& x, Features features);
  const FeatureMap& map() const { return *map_; }

 private:
  std::unique_ptr<FeatureMap> map_;
};

/// Learned weights log lambda = V gelu(U y + a) + b, y = x / d^(1/4), initially 1. Chen et al.,
/// "DiJiang", 2024.
class LearnedWeights : public WeightedMap {
 public:
  LearnedWeights(std::unique_ptr<FeatureMap> map, const FeatureSpec& spec);
  /// Weights keep sums positive only if no feature has a sign.
  bool positive() const override { return !map().has_signed_features(); }
  /// Returns ln lambda(x), for inspection. (B, T, H, d) -> (B, T, H, n)
  Var log_weights(Tape& tape, const Var& x);
  void visit(Visitor& visitor) override;

 protected:
  LogWeights log_weights_of(Tape& tape, const Var& x) override;

 private:
  Parameter hidden_, hidden_bias_;  // U (H, hidden, d), a (H, hidden)
  Parameter output_, output_bias_;  // V (H, n, hidden), b (H, n)
};

/// lambda(x) = 1 / mean_i phi_i(x), shared by all features of a token: the softmax of the exponents
/// of an exponential map. The mean estimates SM(x, 0) = 1, so this is the ratio estimator of the
/// same kernel: consistent, with bias O(1 / m), and no key dominates by chance. Features that are
/// all 0 stay 0. For positive maps; from the code of Chen et al., "DiJiang", 2024.
class NormalizedWeights : public WeightedMap {
 public:
  NormalizedWeights(std::unique_ptr<FeatureMap> map, const FeatureSpec& spec);

 protected:
  Features weighted(Tape& tape, const Var& x, Features features) override;
};

/// Constant weights, box_weights() of the initial frequencies; 1 before initialize(). They are
/// refitted every `refit`-th training pass (Tape::step) and by calibrate(), and pass no gradient.
/// The constructor rejects redraws, which would invalidate the weights.
class FixedWeights : public WeightedMap {
 public:
  FixedWeights(std::unique_ptr<FeatureMap> map, const FeatureSpec& spec);
  void initialized() override {
    WeightedMap::initialized();
    fit();
  }
  /// Calibrates the map, which may move the density, then refits the weights.
  void calibrate(const Tensor& q, const Tensor& k) override {
    WeightedMap::calibrate(q, k);
    fit();
  }
  void visit(Visitor& visitor) override {
    WeightedMap::visit(visitor);
    visitor("log_weight", log_weight_);
  }

 protected:
  LogWeights log_weights_of(Tape& tape, const Var& x) override;

 private:
  void fit();

  double box_;
  std::uint64_t refit_;
  Tensor log_weight_;          // (H, m)
  Tensor fitted_frequencies_;  // of the last fit; () before
};

/// Importance sampling: frequencies w_i of the density's Proposal q, lambda_i^2 = p(w_i) / q(w_i).
/// Unbiased for what the map estimates with p.
class ImportanceWeights : public WeightedMap {
 public:
  ImportanceWeights(std::unique_ptr<FeatureMap> map, const FeatureSpec& spec);
  std::optional<double> kernel(Point q, Point k, std::size_t head) const override {
    return map().kernel(q, k, head);
  }
  /// For p = N(0, I) and a Gaussian q.
  std::optional<double> variance(Point q, Point k, std::size_t head) const override;
  /// Returns effective_sample_size() of the m frequencies.
  double effective_size(std::size_t head);
  /// Sets the scale of a Gaussian q to minimize the error of attention weights on the samples.
  void calibrate(const Tensor& q, const Tensor& k) override;

 protected:
  LogWeights log_weights_of(Tape& tape, const Var& x) override;

 private:
  SpectralDensity& proposal() const { return frequencies_->proposal()->density(); }

  std::size_t m_;
  Frequencies* frequencies_;  // owned by the map
};

/// Adds the weights that spec.weights names to the map.
std::unique_ptr<FeatureMap> weighted_map(std::unique_ptr<FeatureMap> map, const FeatureSpec& spec);

}  // namespace bochner::inline BOCHNER_PRECISION
