#pragma once
/// Generalised exponential features: the softmax kernel with less variance than positive features.
/// Likhosherstov et al., "FAVOR++", 2022, and "FAVOR#", 2023.

#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/features/frequencies.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// f(w, x) = prod_l (1 - 4 A_l)^(1/4) exp(sum_l A_l w_l^2 + sqrt(1 - 4 A_l) w_l u_l - |u|^2 / 2), A
/// < 1/8, with u_q = Psi M_q y for queries, u_k = Psi^-1 M_k y for keys, M_q^T M_k = I; logarithms,
/// divided by sqrt(m); F = m. A is learned through rho, A = (1 - 1/rho) / 8, and starts at its
/// optimum for queries and keys with elements from N(0, 1); it is never computed from the sequence,
/// which would let the future leak. calibrate() sets all to the optimum for samples.
class OptimalFeatures : public TwoSidedMap {
 public:
  /// `oprf`: one A. `saderf`: one A and a learned diagonal Psi. `sderf`: A per dimension, one
  /// rotation for both sides. `aderf`: one A, a pair of matrices.
  explicit OptimalFeatures(const FeatureSpec& spec);
  bool positive() const override { return true; }
  std::optional<double> kernel(Point q, Point k, std::size_t head) const override;
  std::optional<double> variance(Point q, Point k, std::size_t head) const override;
  void calibrate(const Tensor& q, const Tensor& k) override;
  void visit(Visitor& visitor) override;

 protected:
  Features side(Tape& tape, const Var& x, Side side, std::size_t first) override;

 private:
  enum class Variant { plain, scaled, rotated, paired };
  static Variant variant_of(const std::string& kind);
  bool is(Variant variant) const { return variant_ == variant; }
  Var side_of(Tape& tape, const Var& x, Side side);
  std::vector<double> side_of(const std::vector<double>& y, std::size_t head, Side side) const;
  double r_of(std::size_t head, std::size_t l) const;  // 1 - 8 A_l

  std::size_t m_, d_;
  Variant variant_;
  Frequencies frequencies_;
  Parameter log_rho_;                 // (H, 1, 1), or (H, 1, d)
  Parameter log_psi_;                 // (H, d), where scaled
  Tensor query_matrix_, key_matrix_;  // (H, d, d), where rotated or paired
};

}  // namespace bochner::inline BOCHNER_PRECISION
