#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <bochner/layers/features/gates.hpp>
#include <cmath>

/// Hybrid features with deterministic, learned coefficients: positive and unbiased.

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Computes sum_k lambda_k(x, y) SM_k(x, y), where SM_k is the positive estimator of Psi_k x and
/// Psi_k^-1 y with a learned diagonal Psi_k and shared frequencies. lambda_k = p^T M_k p' with
/// Gates p, p' and sum_k M_k = 1, so that the whole is an inner product of positive features. After
/// Choromanski et al., "Hybrid random features", 2022.
class GatedHybrid : public TwoSidedMap {
 public:
  bool positive() const override { return true; }
  Frequencies* frequencies() override { return &frequencies_; }
  std::optional<double> kernel(Point q, Point k, std::size_t) const override {
    return ScaledPair(q, k).softmax();
  }
  /// Returns sum_jk lambda_j lambda_k E exp(w . (u_j + u_k) - c_j - c_k) - SM^2, u_k = Psi_k x +
  /// Psi_k^-1 y, c_k = |Psi_k x|^2 / 2 + |Psi_k^-1 y|^2 / 2: all bases share w.
  std::optional<double> variance(Point q, Point k, std::size_t head) const override {
    const ScaledPair pair(q, k);
    const std::vector<double> lambda =
        coefficients(gates_.gates(pair.x, head, true), gates_.gates(pair.y, head, false), head);
    std::vector<double> u(K_ * d_), c(K_);
    for (std::size_t i = 0; i < K_ * d_; ++i) {
      const double psi = std::exp(double(log_psi_.value().data()[head * K_ * d_ + i]));
      const double x = pair.x[i % d_] * psi, y = pair.y[i % d_] / psi;
      u[i] = x + y;
      c[i / d_] += (x * x + y * y) / 2;
    }
    double second = 0;
    for (std::size_t j = 0; j < K_; ++j)
      for (std::size_t i = 0; i < K_; ++i) {
        double square = 0;
        for (std::size_t e = 0; e < d_; ++e) square += std::pow(u[j * d_ + e] + u[i * d_ + e], 2);
        second += lambda[j] * lambda[i] * std::exp(square / 2 - c[j] - c[i]);
      }
    return (second - std::exp(2 * pair.xy)) / double(m_);
  }
  void visit(Visitor& visitor) override {
    frequencies_.visit(visitor);
    visitor("log_psi", log_psi_);
    gates_.visit(visitor);
  }

 protected:
  GatedHybrid(const FeatureSpec& spec, std::size_t bases, std::size_t gates)
      : H_(spec.heads),
        d_(spec.dim),
        m_(spec.m),
        K_(bases),
        R_(gates),
        log_psi_({H_, K_, d_}, Initial::normal(hybrid_deviation)),
        gates_(H_, d_, R_),
        frequencies_(spec) {}

  Features side(Tape& tape, const Var& x, Side side, std::size_t) override {
    const bool query = side == Side::query;
    const Var y = softmax_scaled(x), w = frequencies_.draws(tape);
    const std::size_t m = w.dim(1);
    const Var coefficients =  // (B, T, H, K, S)
        log_coefficients(tape, gates_.log_gates(tape, y, query), side);
    // Treats each base as a head: (B, T, H K, d) with the frequencies of its head.
    const Var each = reshape(x, by_token(x, {1, d_})) * exp(tape(log_psi_) * (query ? 1 : -1));
    const Var heads = reshape(each, {y.dim(0), y.dim(1), H_ * K_, d_});
    const Var shared =
        reshape(broadcast_to(reshape(w, {H_, 1, m, d_}), {H_, K_, m, d_}), {H_ * K_, m, d_});
    const Var bases = reshape(exponents(heads, shared, 0.5), by_token(y, {K_ * m}));
    return product_features(coefficients, from_logarithms(bases));
  }

  /// Returns logarithms of the factors of lambda: sum_s exp(query(k, s) + key(k, s)) = ln lambda_k.
  /// log gates (B, T, H, R) -> (B, T, H, K, S)
  virtual Var log_coefficients(Tape& tape, const Var& log_gates, Side side) = 0;
  /// Returns lambda_k (K) for gates p and p'.
  virtual std::vector<double> coefficients(const std::vector<double>& p,
                                           const std::vector<double>& other,
                                           std::size_t head) const = 0;

  std::size_t H_, d_, m_, K_, R_;
  Parameter log_psi_;  // (H, K, d)
  Gates gates_;

 private:
  Frequencies frequencies_;
};

/// Learned M_k: the softmax over k of `mixing` (R, R). F = K R m.
class LearnedHybrid : public GatedHybrid {
 public:
  explicit LearnedHybrid(const FeatureSpec& spec)
      : GatedHybrid(spec, spec.bases, spec.gates),
        mixing_({H_, K_, R_, R_}, Initial::normal(hybrid_deviation)) {}

  void visit(Visitor& visitor) override {
    GatedHybrid::visit(visitor);
    visitor("mixing", mixing_);
  }

 protected:
  Var log_coefficients(Tape& tape, const Var& log_gates, Side side) override {
    return mixed_gates(tape, log_gates, mixing_, side == Side::query);
  }
  std::vector<double> coefficients(const std::vector<double>& p, const std::vector<double>& other,
                                   std::size_t head) const override {
    return mixed_gates(p, other, mixing_, head);
  }

 private:
  Parameter mixing_;  // (H, K, R, R)
};

/// Returns ln |b / a|^(1/2), limited to a factor of 8 for elements near 0.
double log_psi_of(double a, double b) {
  constexpr double guard = 1e-3, limit = 2.08;
  return std::clamp(std::log((std::abs(b) + guard) / (std::abs(a) + guard)) / 2, -limit, limit);
}

/// One base per pair of a query cluster and a key cluster: lambda_ab = p_a(x) p'_b(y). calibrate()
/// runs k-means and sets Psi_ab = |c'_b / c_a|^(1/2), which cancels Psi c_a + Psi^-1 c'_b where
/// signs differ, and gates to the clusters' posteriors. F = R^2 m.
class ClusterHybrid : public GatedHybrid {
 public:
  explicit ClusterHybrid(const FeatureSpec& spec)
      : GatedHybrid(spec, spec.gates * spec.gates, spec.gates) {}

  bool needs_calibration() const override { return true; }
  void calibrate(const Tensor& q, const Tensor& k) override {
    for (std::size_t h = 0; h < H_; ++h) {
      const auto [queries, keys] = gates_.calibrate(q, k, h);
      for (std::size_t i = 0; i < K_ * d_; ++i) {
        const std::size_t a = i / d_ / R_, b = i / d_ % R_, e = i % d_;
        log_psi_.value().data()[h * K_ * d_ + i] =
            real(log_psi_of(queries.centres[a * d_ + e], keys.centres[b * d_ + e]));
      }
    }
  }

 protected:
  Var log_coefficients(Tape&, const Var& log_gates, Side side) override {
    const bool query = side == Side::query;
    const Var one_side = reshape(log_gates, by_token(log_gates, {query ? R_ : 1, query ? 1 : R_}));
    return reshape(broadcast_to(one_side, by_token(log_gates, {R_, R_})),
                   by_token(log_gates, {R_ * R_, 1}));
  }
  std::vector<double> coefficients(const std::vector<double>& p, const std::vector<double>& other,
                                   std::size_t) const override {
    std::vector<double> lambda;
    for (const double a : p)
      for (const double b : other) lambda.push_back(a * b);
    return lambda;
  }
};

}  // namespace

void add_gated_hybrids(FeatureMaps& all) {
  all.add("hybrid_cluster", make<ClusterHybrid>, {.exponential = true});
  all.add("hybrid_learned", make<LearnedHybrid>, {.exponential = true});
}

}  // namespace bochner::inline BOCHNER_PRECISION
