#include <bochner/autodiff/ops/linear_attention_parts.hpp>
#include <bochner/autodiff/ops/sequence.hpp>

namespace bochner::inline BOCHNER_PRECISION {

using namespace linear_attention_parts;

LinearAttentionState::LinearAttentionState(std::size_t heads, std::size_t features, std::size_t dim)
    : weighted_values(zeros({heads, features, dim})),
      weights(zeros({heads, features})),
      log_unit(filled({heads}, nothing)) {}

namespace {

void require_step_shapes(const LinearAttentionState& state, const Tensor& q, const Tensor& k,
                         const Tensor& v, const Tensor* rate) {
  const Shape& sums = state.weighted_values.shape();  // (H, F, d)
  const Shape features{sums[0], sums[1]}, values{sums[0], sums[2]};
  require(q.shape() == features && k.shape() == features && v.shape() == values,
          "linear_attention_step", "q and k must be (H, F) and v (H, d) of a state (H, F, d) ",
          sums, ": q ", q.shape(), ", k ", k.shape(), ", v ", v.shape());
  require(!rate || rate->size() == sums[0], "linear_attention_step",
          "one rate per head: state (H, F, d) ", sums);
}

}  // namespace

Tensor linear_attention_step(LinearAttentionState& state, const Tensor& q, const Tensor& k,
                             const Tensor& v, const Tensor* rate, FeatureScale scale, real floor) {
  require_step_shapes(state, q, k, v, rate);
  const std::size_t H = q.shape()[0], F = q.shape()[1], d = v.shape()[1];
  Tensor out = zeros({H, d});
  Tensor queries = q, keys = k;
  for (std::size_t h = 0; h < H; ++h) {
    real *query = queries.data() + h * F, *key = keys.data() + h * F;
    real log_key = 0;
    if (scale == FeatureScale::logarithmic) {
      exponentiate(query, F);  // its scale cancels
      log_key = exponentiate(key, F);
    }
    real& unit = state.log_unit.data()[h];
    if (rate) unit -= rate->data()[h];
    const real top = std::max(unit, log_key);
    const real keep = math::exp(unit - top), carry = math::exp(log_key - top);
    unit = top;
    real* weights = state.weights.data() + h * F;
    real* y = out.data() + h * d;
    for (std::size_t f = 0; f < F; ++f) {
      real* values = state.weighted_values.data() + (h * F + f) * d;
      const real weight = carry * key[f];
      weights[f] = keep * weights[f] + weight;
      for (std::size_t e = 0; e < d; ++e)
        values[e] = keep * values[e] + weight * v.data()[h * d + e];
      for (std::size_t e = 0; e < d; ++e) y[e] += query[f] * values[e];
    }
    const real factor = safe_inverse(dot_row(query, weights, F), floor);
    for (std::size_t e = 0; e < d; ++e) y[e] *= factor;
  }
  return out;
}

}  // namespace bochner::inline BOCHNER_PRECISION
