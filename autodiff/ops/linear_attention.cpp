#include <bochner/autodiff/ops/linear_attention_parts.hpp>

namespace bochner::inline BOCHNER_PRECISION {

using namespace linear_attention_parts;

namespace {

void require_shapes(const Var& q, const Var& k, const Var& v, const Var& rate, bool causal) {
  require(q.rank() == 4 && q.shape() == k.shape(), "linear_attention",
          "features must be (B, T, H, F): q ", q.shape(), ", k ", k.shape());
  require(v.rank() == 4 && v.dim(0) == q.dim(0) && v.dim(1) == q.dim(1) && v.dim(2) == q.dim(2),
          "linear_attention", "values must be (B, T, H, d) like the features: v ", v.shape(),
          ", k ", k.shape());
  if (!rate.exists()) return;
  require(causal, "linear_attention", "a time kernel needs causal attention");
  require(rate.shape() == Shape{q.dim(2)}, "linear_attention", "one rate per head: rate ",
          rate.shape(), ", q ", q.shape());
}

}  // namespace

Var linear_attention(const Var& q, const Var& k, const Var& v, const Var& rate,
                     const LinearAttentionOptions& options) {
  require_shapes(q, k, v, rate, options.causal);
  require(options.floor == 0 || options.scale == FeatureScale::linear, "linear_attention",
          "a floor needs linear features: logarithms have no fixed unit");
  require(options.chunk > 0, "linear_attention", "the chunk must hold at least one token");
  const std::size_t T = q.dim(1);
  const Sizes n{q.dim(0), T,        q.dim(2),
                q.dim(3), v.dim(3), std::max<std::size_t>(1, std::min(options.chunk, T))};
  const auto inputs = [n, scale = options.scale, floor = options.floor](
                          const Var& q, const Var& k, const Var& v, const Var& rate) {
    return Inputs{n,     q.data(), k.data(), v.data(), rate.exists() ? rate.data() : nullptr,
                  scale, floor};
  };
  const Inputs in = inputs(q, k, v, rate);
  const bool causal = options.causal;
  Tensor y = uninitialized(v.shape());
  if (y.size() > 0) causal ? attend_causally(in, y) : attend_bidirectionally(in, y);
  return record("linear_attention", std::move(y), {q, k, v, rate}, [=](const Tensor& y, Tensor& g) {
    if (g.size() == 0) return;
    AttentionGradients gradients(q.shape(), v.shape());
    (causal ? attend_causally_backward : attend_bidirectionally_backward)(inputs(q, k, v, rate), y,
                                                                          g, gradients);
    gradients.hand_to(q, k, v, rate);
  });
}

LinearAttentionState::LinearAttentionState(std::size_t heads, std::size_t features, std::size_t dim)
    : weighted_values(zeros({heads, features, dim})),
      weights(zeros({heads, features})),
      log_unit(filled({heads}, nothing)) {}

Tensor linear_attention_step(LinearAttentionState& state, const Tensor& q, const Tensor& k,
                             const Tensor& v, const Tensor* rate, FeatureScale scale, real floor) {
  const std::size_t H = q.shape()[0], F = q.shape()[1], d = v.shape()[1];
  Tensor out = zeros({H, d});
  Tensor query = uninitialized({F}), key = uninitialized({F});
  for (std::size_t h = 0; h < H; ++h) {
    real log_query, log_key;
    load_features(q.data() + h * F, F, 1, F, scale, query.data(), &log_query);
    load_features(k.data() + h * F, F, 1, F, scale, key.data(), &log_key);
    real& unit = state.log_unit.data()[h];
    if (rate) unit -= rate->data()[h];
    const real top = std::max(unit, log_key);
    const real keep = math::exp(unit - top), carry = math::exp(log_key - top);
    unit = top;
    real* weights = state.weights.data() + h * F;
    real* y = out.data() + h * d;
    for (std::size_t f = 0; f < F; ++f) {
      real* values = state.weighted_values.data() + (h * F + f) * d;
      const real weight = carry * key.data()[f];
      weights[f] = keep * weights[f] + weight;
      for (std::size_t e = 0; e < d; ++e)
        values[e] = keep * values[e] + weight * v.data()[h * d + e];
      for (std::size_t e = 0; e < d; ++e) y[e] += query.data()[f] * values[e];
    }
    const real factor = safe_inverse(dot_row(query.data(), weights, F), floor);
    for (std::size_t e = 0; e < d; ++e) y[e] *= factor;
  }
  return out;
}

}  // namespace bochner::inline BOCHNER_PRECISION
