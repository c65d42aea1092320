#pragma once
/// Coefficients of a hybrid of any estimators: lambda_k(x, y), whose sum over k is 1.

#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/feature_map.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The squared error, above 0, of each of K estimators for a pair of samples: a query and a key of
/// a head.
using PairErrors =
    std::function<std::vector<double>(std::size_t query, std::size_t key, std::size_t head)>;

/// lambda_k(x, y) = sum_s a_ks(x) b_ks(y), or an estimate of it, of y = x / d^(1/4). The sum over k
/// is 1 for every pair and all draws.
class HybridCoefficients : public Module {
 public:
  /// a for queries, b for keys; their logarithms if logarithmic(). (B, T, H, d) -> (B, T, H, K, S)
  virtual Var factors(Tape& tape, const Var& y, bool query) = 0;
  /// Whether they are never negative.
  virtual bool logarithmic() const = 0;
  /// E lambda_k (K) and E lambda_j lambda_k (K, K) of a pair.
  struct Moments {
    std::vector<double> mean, square;
  };
  virtual std::optional<Moments> moments(const ScaledPair& pair, std::size_t head) const = 0;
  /// Gives each estimator a weight in proportion to 1 / its error where samples (n, H, d) are.
  virtual void calibrate(const Tensor& q, const Tensor& k, const PairErrors& errors) = 0;
};

/// Of K estimators, by spec.lambdas: "learned" and "clusters" are Gates, p^T M_k p'; "gaussian" and
/// "angular" go from u_k where a Similarity is 1 to v_k where it is 0, u and v learned and each of
/// sum 1: lambda_k = v_k + (u_k - v_k) s(x, y).
std::unique_ptr<HybridCoefficients> make_coefficients(const FeatureSpec& spec, std::size_t K);

}  // namespace bochner::inline BOCHNER_PRECISION
