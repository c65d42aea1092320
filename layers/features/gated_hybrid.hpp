#pragma once
/// Hybrid features with deterministic, learned coefficients: positive and without bias.

#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/features/frequencies.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// sum_k lambda_k(x, y) SM_k(x, y), SM_k the positive estimator of Psi_k x, Psi_k^-1 y with a
/// learned diagonal Psi_k, all by the same frequencies. Gates p(x), p'(y) are softmax functions of
/// R affine forms of y = x / d^(1/4), one set for queries and one for keys; lambda_k = p^T M_k p'
/// with sum_k M_k = 1, so that the whole is an inner product of positive features. After
/// Choromanski et al., "Hybrid random features", 2022.
class GatedHybrid : public TwoSidedMap {
 public:
  bool positive() const override { return true; }
  std::optional<double> kernel(Point q, Point k, std::size_t head) const override;
  void visit(Visitor& visitor) override;

 protected:
  GatedHybrid(const FeatureSpec& spec, std::size_t bases, std::size_t gates);
  Features side(Tape& tape, const Var& x, Side side, std::size_t first) override;
  /// Logarithms of the factors of lambda: sum_s exp(query(k, s) + key(k, s)) = ln lambda_k. log
  /// gates (B, T, H, R) -> (B, T, H, K, S)
  virtual Var log_coefficients(Tape& tape, const Var& log_gates, Side side) = 0;

  std::size_t H_, d_, K_, R_;
  Parameter log_psi_;                          // (H, K, d)
  Parameter query_gates_, key_gates_;          // (H, R, d)
  Parameter query_gate_bias_, key_gate_bias_;  // (H, R)

 private:
  Frequencies frequencies_;
};

/// M_k learned, softmax over k of `mixing` (R, R) each. F = K R m.
class LearnedHybrid : public GatedHybrid {
 public:
  explicit LearnedHybrid(const FeatureSpec& spec);
  void visit(Visitor& visitor) override;

 protected:
  Var log_coefficients(Tape& tape, const Var& log_gates, Side side) override;

 private:
  Parameter mixing_;  // (H, K, R, R)
};

/// One base for each pair of a cluster of queries and one of keys: lambda_ab = p_a(x) p'_b(y).
/// calibrate() finds the clusters by k-means, Psi_ab = |c'_b / c_a|^(1/2), which cancels the sum
/// Psi c_a + Psi^-1 c'_b where signs differ, and gates that are the clusters' posteriors. F = R^2
/// m.
class ClusterHybrid : public GatedHybrid {
 public:
  explicit ClusterHybrid(const FeatureSpec& spec);
  void calibrate(const Tensor& q, const Tensor& k) override;

 protected:
  Var log_coefficients(Tape& tape, const Var& log_gates, Side side) override;
};

}  // namespace bochner::inline BOCHNER_PRECISION
