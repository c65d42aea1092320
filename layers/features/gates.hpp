#pragma once
/// Gates of queries and keys, for coefficients of hybrids.

#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/probability/k_means.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Breaks the symmetry of bases and gates, so that they learn different things.
inline constexpr double hybrid_deviation = 0.1;

/// Returns the shape (B, T, H, rest..) for x (B, T, H, ..).
inline Shape by_token(const Var& x, std::initializer_list<std::size_t> rest) {
  Shape shape{x.dim(0), x.dim(1), x.dim(2)};
  shape.insert(shape.end(), rest.begin(), rest.end());
  return shape;
}

/// Gates p(x), p'(y): softmax of R affine forms of y = x / d^(1/4), separate for queries and keys.
class Gates : public Module {
 public:
  Gates(std::size_t heads, std::size_t dim, std::size_t gates);
  /// Returns ln p of y, or ln p' for keys. (B, T, H, d) -> (B, T, H, R)
  Var log_gates(Tape& tape, const Var& y, bool query);
  /// Returns p, or p' for keys, of one y of a head.
  std::vector<double> gates(Point y, std::size_t head, bool query) const;

  struct GateClusters {
    Clusters queries, keys;
  };
  /// Sets a head's gates to the posteriors of equal Gaussian clusters of samples (n, H, d).
  GateClusters calibrate(const Tensor& q, const Tensor& k, std::size_t head);
  void visit(Visitor& visitor) override {
    visitor("query_gates", query_gates_);
    visitor("query_gate_bias", query_gate_bias_);
    visitor("key_gates", key_gates_);
    visitor("key_gate_bias", key_gate_bias_);
  }

 private:
  std::size_t d_, R_;
  Parameter query_gates_, key_gates_;          // (H, R, d)
  Parameter query_gate_bias_, key_gate_bias_;  // (H, R)
};

/// Returns logarithms of the factors of lambda_k = p^T M_k p', M_k = softmax over k of `mixing` (H,
/// K, R, R), so that sum_k lambda_k = 1: M_k^T p for queries, p' for keys. log gates (B, T, H, R)
/// -> (B, T, H, K, R)
Var mixed_gates(Tape& tape, const Var& log_gates, Parameter& mixing, bool query);
/// Returns lambda_k (K) of the gates p and p' of one pair.
std::vector<double> mixed_gates(const std::vector<double>& p, const std::vector<double>& other,
                                const Parameter& mixing, std::size_t head);
/// Returns the softmax of n logits, `stride` apart.
std::vector<double> strided_softmax(const real* logits, std::size_t n, std::size_t stride = 1);

}  // namespace bochner::inline BOCHNER_PRECISION
