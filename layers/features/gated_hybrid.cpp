#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/exponents.hpp>
#include <bochner/layers/features/gated_hybrid.hpp>
#include <cmath>

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

}  // namespace

GatedHybrid::GatedHybrid(const FeatureSpec& spec, std::size_t bases, std::size_t gates)
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

Features GatedHybrid::side(Tape& tape, const Var& x, Side side, std::size_t) {
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

std::optional<double> GatedHybrid::kernel(Point q, Point k, std::size_t) const {
  return ScaledPair(q, k).softmax();
}

void GatedHybrid::visit(Visitor& visitor) {
  frequencies_.visit(visitor);
  visitor("log_psi", log_psi_);
  visitor("query_gates", query_gates_);
  visitor("query_gate_bias", query_gate_bias_);
  visitor("key_gates", key_gates_);
  visitor("key_gate_bias", key_gate_bias_);
}

LearnedHybrid::LearnedHybrid(const FeatureSpec& spec)
    : GatedHybrid(checked(spec), spec.bases, spec.gates),
      mixing_({H_, K_, R_, R_}, Initial::normal(start_deviation)) {}

Var LearnedHybrid::log_coefficients(Tape& tape, const Var& log_gates, Side side) {
  const Var gates = reshape(log_gates, by_token(log_gates, {1, R_}));
  if (side == Side::key) return broadcast_to(gates, by_token(log_gates, {K_, R_}));
  const Var mixing = tape(mixing_);  // softmax over k
  const Var M = exp(mixing - logsumexp(mixing, {1}, keep));
  const Var by_key = reshape(transpose(M, {0, 1, 3, 2}), {H_, K_ * R_, R_});
  return log(reshape(project_heads(exp(log_gates), by_key), by_token(log_gates, {K_, R_})));
}

void LearnedHybrid::visit(Visitor& visitor) {
  GatedHybrid::visit(visitor);
  visitor("mixing", mixing_);
}

ClusterHybrid::ClusterHybrid(const FeatureSpec& spec)
    : GatedHybrid(spec, checked(spec).gates * spec.gates, spec.gates) {}

Var ClusterHybrid::log_coefficients(Tape&, const Var& log_gates, Side side) {
  const bool query = side == Side::query;
  const Var one_side = reshape(log_gates, by_token(log_gates, {query ? R_ : 1, query ? 1 : R_}));
  return reshape(broadcast_to(one_side, by_token(log_gates, {R_, R_})),
                 by_token(log_gates, {R_ * R_, 1}));
}

}  // namespace bochner::inline BOCHNER_PRECISION
