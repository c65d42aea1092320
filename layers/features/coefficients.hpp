#pragma once
/// Similarities of two vectors, and coefficients lambda_k(x, y) of a hybrid of estimators.

#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/feature_map.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// s(y, y') = c + <f(y), f(y')>, estimated by spec.lambda draws, for y = x / d^(1/4).
class Similarity : public Module {
 public:
  /// Computes f. (.., H, d) -> (.., H, n)
  virtual Var features(Tape& tape, const Var& y) = 0;
  /// Returns c.
  virtual double constant() const { return 0; }
  struct Moments {
    double mean, square;
  };
  /// Returns E s and E s^2 of a pair; empty without a closed form.
  virtual std::optional<Moments> moments(const ScaledPair& pair, std::size_t head) const = 0;
};

/// Makes 1 - angle / pi by the signs of n projections, c = 1/2, n features; with spec.smooth, tanh
/// of learned projections, as signs pass no gradient.
std::unique_ptr<Similarity> angular_similarity(const FeatureSpec& spec);
/// Makes exp(-|y - y'|^2 / (2 tau^2)) by n trigonometric draws, tau learned; c = 0, 2n features.
std::unique_ptr<Similarity> gaussian_similarity(const FeatureSpec& spec);

/// Returns each of K estimators' squared error, above 0, for a sampled query and key.
using PairErrors =
    std::function<std::vector<double>(std::size_t query, std::size_t key, std::size_t head)>;

/// Coefficients lambda_k(x, y) = sum_s a_ks(x) b_ks(y), or estimates of them, of y = x / d^(1/4).
/// The sum over k is 1 for every pair and all draws.
class HybridCoefficients : public Module {
 public:
  /// Returns a for queries, b for keys, or logarithms. (B, T, H, d) -> (B, T, H, K, S)
  virtual Var factors(Tape& tape, const Var& y, bool query) = 0;
  /// Returns whether all factors are positive and given as logarithms.
  virtual bool logarithmic() const = 0;
  /// E lambda_k (K) and E lambda_j lambda_k (K, K) of a pair.
  struct Moments {
    std::vector<double> mean, square;
  };
  virtual std::optional<Moments> moments(const ScaledPair& pair, std::size_t head) const = 0;
  /// Weights each estimator by 1 / its error near samples (n, H, d).
  virtual void calibrate(const Tensor& q, const Tensor& k, const PairErrors& errors) = 0;
};

/// Makes the coefficients of spec.lambdas. "learned", "clusters": Gates, p^T M_k p'. "gaussian",
/// "angular": lambda_k = v_k + (u_k - v_k) s(x, y), s a Similarity, learned u and v of sum 1.
std::unique_ptr<HybridCoefficients> make_coefficients(const FeatureSpec& spec, std::size_t K);

}  // namespace bochner::inline BOCHNER_PRECISION
