#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <bochner/layers/features/k_means.hpp>
#include <cmath>

/// Hybrid features with deterministic, learned coefficients: positive and without bias.

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr double start_deviation = 0.1;  // bases and gates must differ to learn different things

const FeatureSpec& checked(const FeatureSpec& spec) {
  require(spec.bases > 0 && spec.gates > 0, spec.kind.c_str(), "bases = ", spec.bases,
          ", gates = ", spec.gates, ": both must be at least 1");
  return spec;
}

/// (B, T, H, ..) -> (B, T, H, rest..)
Shape by_token(const Var& x, std::initializer_list<std::size_t> rest) {
  Shape shape{x.dim(0), x.dim(1), x.dim(2)};
  shape.insert(shape.end(), rest.begin(), rest.end());
  return shape;
}

/// sum_k lambda_k(x, y) SM_k(x, y), SM_k the positive estimator of Psi_k x, Psi_k^-1 y with a
/// learned diagonal Psi_k, all by the same frequencies. Gates p(x), p'(y) are softmax functions of
/// R affine forms of y = x / d^(1/4), one set for queries and one for keys; lambda_k = p^T M_k p'
/// with sum_k M_k = 1, so that the whole is an inner product of positive features. After
/// Choromanski et al., "Hybrid random features", 2022.
class GatedHybrid : public TwoSidedMap {
 public:
  bool positive() const override { return true; }
  std::optional<double> kernel(Point q, Point k, std::size_t) const override {
    return ScaledPair(q, k).softmax();
  }
  void visit(Visitor& visitor) override {
    frequencies_.visit(visitor);
    visitor("log_psi", log_psi_);
    visitor("query_gates", query_gates_);
    visitor("query_gate_bias", query_gate_bias_);
    visitor("key_gates", key_gates_);
    visitor("key_gate_bias", key_gate_bias_);
  }

 protected:
  GatedHybrid(const FeatureSpec& spec, std::size_t bases, std::size_t gates)
      : H_(spec.heads),
        d_(spec.dim),
        K_(bases),
        R_(gates),
        log_psi_({H_, K_, d_}, Initial::normal(start_deviation)),
        query_gates_({H_, R_, d_}, Initial::normal(start_deviation)),
        key_gates_({H_, R_, d_}, Initial::normal(start_deviation)),
        query_gate_bias_({H_, R_}),
        key_gate_bias_({H_, R_}),
        frequencies_(spec) {}

  Features side(Tape& tape, const Var& x, Side side, std::size_t) override {
    const bool query = side == Side::query;
    const Var y = softmax_scaled(x), w = frequencies_.draws(tape);
    const std::size_t m = w.dim(1);
    const Var log_gates = log_softmax(project_heads(y, tape(query ? query_gates_ : key_gates_)) +
                                      tape(query ? query_gate_bias_ : key_gate_bias_));
    const Var coefficients = log_coefficients(tape, log_gates, side);  // (B, T, H, K, S)
    // Each base is a head of its own: (B, T, H K, d) with the frequencies of its head.
    const Var each = reshape(x, by_token(x, {1, d_})) * exp(tape(log_psi_) * (query ? 1 : -1));
    const Var heads = reshape(each, {y.dim(0), y.dim(1), H_ * K_, d_});
    const Var shared =
        reshape(broadcast_to(reshape(w, {H_, 1, m, d_}), {H_, K_, m, d_}), {H_ * K_, m, d_});
    const Var bases = reshape(exponents(heads, shared, 0.5), by_token(y, {K_ * m}));
    return product_features(coefficients, from_logarithms(bases));
  }

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
  explicit LearnedHybrid(const FeatureSpec& spec)
      : GatedHybrid(checked(spec), spec.bases, spec.gates),
        mixing_({H_, K_, R_, R_}, Initial::normal(start_deviation)) {}

  void visit(Visitor& visitor) override {
    GatedHybrid::visit(visitor);
    visitor("mixing", mixing_);
  }

 protected:
  Var log_coefficients(Tape& tape, const Var& log_gates, Side side) override {
    const Var gates = reshape(log_gates, by_token(log_gates, {1, R_}));
    if (side == Side::key) return broadcast_to(gates, by_token(log_gates, {K_, R_}));
    const Var mixing = tape(mixing_);  // softmax over k
    const Var M = exp(mixing - logsumexp(mixing, {1}, keep));
    const Var by_key = reshape(transpose(M, {0, 1, 3, 2}), {H_, K_ * R_, R_});
    return log(reshape(project_heads(exp(log_gates), by_key), by_token(log_gates, {K_, R_})));
  }

 private:
  Parameter mixing_;  // (H, K, R, R)
};

/// Posteriors of equal Gaussian clusters: logits c . y / s - |c|^2 / (2 s), s the spread.
void store_gates(const Clusters& clusters, std::size_t d, real* gates, real* bias) {
  const double spread = std::max(clusters.spread, 1e-6);
  for (std::size_t r = 0; r < clusters.centres.size() / d; ++r) {
    const double* centre = clusters.centres.data() + r * d;
    bias[r] = 0;
    for (std::size_t e = 0; e < d; ++e) {
      gates[r * d + e] = real(centre[e] / spread);
      bias[r] -= real(centre[e] * centre[e] / (2 * spread));
    }
  }
}

/// ln |b / a|^(1/2), kept within a factor of 8: elements near 0 ask for no more.
double log_psi_of(double a, double b) {
  constexpr double guard = 1e-3, limit = 2.08;
  return std::clamp(std::log((std::abs(b) + guard) / (std::abs(a) + guard)) / 2, -limit, limit);
}

/// One base for each pair of a cluster of queries and one of keys: lambda_ab = p_a(x) p'_b(y).
/// calibrate() finds the clusters by k-means, Psi_ab = |c'_b / c_a|^(1/2), which cancels the sum
/// Psi c_a + Psi^-1 c'_b where signs differ, and gates that are the clusters' posteriors. F = R^2
/// m.
class ClusterHybrid : public GatedHybrid {
 public:
  explicit ClusterHybrid(const FeatureSpec& spec)
      : GatedHybrid(spec, checked(spec).gates * spec.gates, spec.gates) {}

  bool needs_calibration() const override { return true; }
  void calibrate(const Tensor& q, const Tensor& k) override {
    for (std::size_t h = 0; h < H_; ++h) {
      const Clusters queries = k_means(scaled_samples(q, h, d_), d_, R_);
      const Clusters keys = k_means(scaled_samples(k, h, d_), d_, R_);
      store_gates(queries, d_, query_gates_.value().data() + h * R_ * d_,
                  query_gate_bias_.value().data() + h * R_);
      store_gates(keys, d_, key_gates_.value().data() + h * R_ * d_,
                  key_gate_bias_.value().data() + h * R_);
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
};

}  // namespace

void add_gated_hybrids(FeatureMaps& all) {
  all.add("hybrid_cluster", make<ClusterHybrid>);
  all.add("hybrid_learned", make<LearnedHybrid>);
}

}  // namespace bochner::inline BOCHNER_PRECISION
