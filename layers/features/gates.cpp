#include <bochner/autodiff/compute/softmax.hpp>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <bochner/layers/features/gates.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Stores logits c . y / s - |c|^2 / (2 s), s the spread.
void store_gates(const Clusters& clusters, std::size_t d, real* gates, real* bias) {
  const double spread = std::max(clusters.spread(), 1e-6);
  for (std::size_t r = 0; r < clusters.centres.size() / d; ++r) {
    const double* centre = clusters.centres.data() + r * d;
    bias[r] = 0;
    for (std::size_t e = 0; e < d; ++e) {
      gates[r * d + e] = real(centre[e] / spread);
      bias[r] -= real(centre[e] * centre[e] / (2 * spread));
    }
  }
}

}  // namespace

Gates::Gates(std::size_t heads, std::size_t dim, std::size_t gates)
    : d_(dim),
      R_(gates),
      query_gates_({heads, gates, dim}, Initial::normal(hybrid_deviation)),
      key_gates_({heads, gates, dim}, Initial::normal(hybrid_deviation)),
      query_gate_bias_({heads, gates}),
      key_gate_bias_({heads, gates}) {}

Var Gates::log_gates(Tape& tape, const Var& y, bool query) {
  return log_softmax(project_heads(y, tape(query ? query_gates_ : key_gates_)) +
                     tape(query ? query_gate_bias_ : key_gate_bias_));
}

std::vector<double> Gates::gates(Point y, std::size_t head, bool query) const {
  const Tensor &forms = (query ? query_gates_ : key_gates_).value(),
               &bias = (query ? query_gate_bias_ : key_gate_bias_).value();
  std::vector<double> p(R_);
  for (std::size_t r = 0; r < R_; ++r) {
    p[r] = double(bias(head, r));
    for (std::size_t e = 0; e < d_; ++e) p[r] += double(forms(head, r, e)) * y[e];
  }
  return softmax_of(std::move(p));
}

Gates::GateClusters Gates::calibrate(const Tensor& q, const Tensor& k, std::size_t head) {
  GateClusters found{k_means(scaled_samples(q, head, d_), d_, R_),
                     k_means(scaled_samples(k, head, d_), d_, R_)};
  store_gates(found.queries, d_, query_gates_.value().data() + head * R_ * d_,
              query_gate_bias_.value().data() + head * R_);
  store_gates(found.keys, d_, key_gates_.value().data() + head * R_ * d_,
              key_gate_bias_.value().data() + head * R_);
  return found;
}

Var mixed_gates(Tape& tape, const Var& log_gates, Parameter& mixing, bool query) {
  const std::size_t H = mixing.shape()[0], K = mixing.shape()[1], R = mixing.shape()[2];
  const Var gates = reshape(log_gates, by_token(log_gates, {1, R}));
  if (!query) return broadcast_to(gates, by_token(log_gates, {K, R}));
  const Var logits = tape(mixing);
  const Var M = exp(logits - logsumexp(logits, {1}, keep));
  const Var by_key = reshape(transpose(M, {0, 1, 3, 2}), {H, K * R, R});
  const Var least = filled({1}, std::numeric_limits<real>::min());  // where a base has weight 0
  const Var mixed = maximum(project_heads(exp(log_gates), by_key), least);
  return log(reshape(mixed, by_token(log_gates, {K, R})));
}

std::vector<double> mixed_gates(const std::vector<double>& p, const std::vector<double>& other,
                                const Parameter& mixing, std::size_t head) {
  const std::size_t K = mixing.shape()[1], R = mixing.shape()[2];
  std::vector<double> lambda(K);
  for (std::size_t i = 0; i < R * R; ++i) {
    const auto M = strided_softmax(mixing.value().data() + head * K * R * R + i, K, R * R);
    for (std::size_t k = 0; k < K; ++k) lambda[k] += p[i / R] * M[k] * other[i % R];
  }
  return lambda;
}

std::vector<double> strided_softmax(const real* logits, std::size_t n, std::size_t stride) {
  std::vector<double> p(n);
  for (std::size_t i = 0; i < n; ++i) p[i] = double(logits[i * stride]);
  return softmax_of(std::move(p));
}

}  // namespace bochner::inline BOCHNER_PRECISION
