#include <bochner/autodiff/ops/attention/delta_rule.hpp>
#include <bochner/autodiff/ops/attention/delta_rule_parts.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

void require_delta_shapes(const Features& q, const Features& k, const Var& v, const Var& strength,
                          const Var& rate, const DeltaRuleOptions& options) {
  constexpr const char* name = "delta_rule";
  const Shape features = q.shape();
  require_feature_attention(name, features, k.shape(), v.shape(), options.chunk, options.lengths);
  const Shape tokens = without_last(features);
  require(strength.shape() == tokens, name, "one strength per head and token, (B, T, H): strength ",
          strength.shape(), ", k ", k.shape());
  const bool good_rate = !rate.exists() || rate.shape() == Shape{tokens[2]} ||
                         rate.shape() == Shape{tokens[2], features[3]} || rate.shape() == tokens ||
                         rate.shape() == features;
  require(good_rate, name,
          "one rate per head or channel, (H), (H, F), (B, T, H) or (B, T, H, F): ", "rate ",
          rate.exists() ? rate.shape() : Shape{}, ", k ", k.shape());
}

delta_rule_parts::Inputs delta_inputs(const Features& q, const Features& k, const Var& v,
                                      const Var& strength, const Var& rate,
                                      const DeltaRuleOptions& options) {
  const std::size_t B = v.dim(0), T = v.dim(1), H = v.dim(2);
  const std::size_t rank = rate.exists() ? rate.rank() : 0, F = k.shape()[3];
  const bool by_channel = rank == 2 || rank == 4;
  // Largest chunk with channel rates, whose pairs are not matrix products.
  constexpr std::size_t most = 16;
  const std::size_t chunk = by_channel ? std::min(most, options.chunk) : options.chunk;
  const std::size_t C = std::max<std::size_t>(1, std::min(chunk, T));
  return {{B, T, H, F, v.dim(3), C},
          linear_attention_parts::make_source(q, C),
          linear_attention_parts::make_source(k, C),
          v.data(),
          strength.data(),
          {rank > 0 ? rate.data() : nullptr, rank > 2, by_channel ? F : 1},
          options.lengths,
          options.reverse};
}

void delta_backward(const delta_rule_parts::Inputs& in, const Tensor& states, const Tensor& g,
                    const Var& v, const Var& strength, const Var& rate) {
  const bool all_tokens = in.lengths.empty(), rate_by_token = in.fading.by_token;
  const auto gradient_of = [all_tokens](const Var& x) { return unwritten(x.shape(), all_tokens); };
  delta_rule_parts::OtherGradients gradients{gradient_of(v), gradient_of(strength), {}, {}};
  if (rate_by_token)
    gradients.rate = gradient_of(rate);
  else
    gradients.shared.resize(in.n.B * in.n.H * in.fading.width);
  in.q->expect_gradients(all_tokens, v.dim(1));
  in.k->expect_gradients(all_tokens, v.dim(1));
  delta_rule_parts::run_backward(in, states, g, gradients);
  in.q->flush_gradients();
  in.k->flush_gradients();
  v.add_gradient(std::move(gradients.v));
  strength.add_gradient(std::move(gradients.strength));
  if (!rate.needs_gradient()) return;
  rate.add_gradient(rate_by_token ? std::move(gradients.rate)
                                  : sum_repeats(gradients.shared, rate.shape()));
}

/// One token of one head; features have unit length.
struct DeltaStep {
  std::size_t F, d, width;
  const real *q, *k, *v, *rate;  ///< (F), (F), (d), (width) or null
  real strength;

  /// Updates state (F, d) and adds the output to out (d); error (d) is scratch.
  void run(real* state, real* error, real* out) const {
    std::copy_n(v, d, error);
    for (std::size_t f = 0; f < F; ++f) {
      const real keep = rate ? math::exp(-rate[f * width / F]) : real(1);
      real* row = state + f * d;
      for (std::size_t e = 0; e < d; ++e) {
        row[e] *= keep;
        error[e] -= k[f] * row[e];
      }
    }
    for (std::size_t f = 0; f < F; ++f) {
      const real weight = strength * k[f];
      real* row = state + f * d;
      for (std::size_t e = 0; e < d; ++e) {
        row[e] += weight * error[e];
        out[e] += q[f] * row[e];
      }
    }
  }
};

/// Returns the features (H, F) at unit length.
Tensor unit_features(Tensor x, FeatureScale scale) {
  const std::size_t H = x.shape()[0], F = x.shape()[1];
  std::vector<real> lengths(H);
  for (std::size_t h = 0; h < H && scale == FeatureScale::logarithmic; ++h)
    linear_attention_parts::exponentiate(x.data() + h * F, F);
  delta_rule_parts::to_unit_length(H, F, x.data(), lengths.data());
  return x;
}

}  // namespace

Var delta_rule(const Features& q, const Features& k, const Var& v, const Var& strength,
               const Var& rate, const DeltaRuleOptions& options) {
  require_delta_shapes(q, k, v, strength, rate, options);
  const std::vector<Var> inputs{q.tokens, q.frequencies, q.offset, q.coefficients,
                                k.tokens, k.frequencies, k.offset, k.coefficients,
                                v,        strength,      rate};
  const bool wanted = std::ranges::any_of(inputs, &Var::needs_gradient);
  const FullPrecision exact;
  const auto states = std::make_shared<Tensor>();
  Tensor y = unwritten(v.shape(), options.lengths.empty());
  if (y.size() > 0)
    *states =
        delta_rule_parts::run_forward(delta_inputs(q, k, v, strength, rate, options), wanted, y);
  return record("delta_rule", std::move(y), inputs, [=](Tensor& g) {
    const FullPrecision exact;
    if (g.size() == 0) return;
    const auto in = delta_inputs(q, k, v, strength, rate, options);
    delta_backward(in, *states, g, v, strength, rate);
  });
}

Tensor delta_rule_step(DeltaRuleState& state, const Tensor& q, const Tensor& k, const Tensor& v,
                       const Tensor& strength, const Tensor* rate, FeatureScale scale) {
  const Shape& shape = state.values.shape();  // (H, F, d)
  const std::size_t H = shape[0], F = shape[1], d = shape[2];
  require(q.shape() == Shape{H, F} && k.shape() == Shape{H, F} && v.shape() == Shape{H, d},
          "delta_rule_step", "q and k must be (H, F) and v (H, d) of a state (H, F, d) ", shape,
          ": q ", q.shape(), ", k ", k.shape(), ", v ", v.shape());
  require(strength.size() == H && (!rate || rate->size() == H || rate->size() == H * F),
          "delta_rule_step",
          "needs one strength per head, and one rate per head or channel, for a state (H, F, d) ",
          shape);
  const std::size_t width = rate ? rate->size() / H : 1;
  const Tensor queries = unit_features(q, scale), keys = unit_features(k, scale);
  Tensor out = zeros({H, d});
  parallel_rows(H, 4 * F * d, [&](std::size_t h) {
    std::vector<real> error(d);
    const DeltaStep step{F,
                         d,
                         width,
                         queries.data() + h * F,
                         keys.data() + h * F,
                         v.data() + h * d,
                         rate ? rate->data() + h * width : nullptr,
                         strength.data()[h]};
    step.run(state.values.data() + h * F * d, error.data(), out.data() + h * d);
  });
  return out;
}

}  // namespace bochner::inline BOCHNER_PRECISION
