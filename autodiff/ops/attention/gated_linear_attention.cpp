#include <bochner/autodiff/ops/attention/gated_linear_attention_parts.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/features.hpp>
#include <bochner/autodiff/ops/recurrence/recurrence.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

using namespace gated_parts;

namespace {

constexpr const char* gated_name = "gated_linear_attention";

void require_gated(const Var& q, const Var& k, const Var& v, const Var& log_decay,
                   const GatedLinearAttentionOptions& options) {
  const Shape features = q.shape();
  require_feature_attention(gated_name, features, k.shape(), v.shape(), options.chunk,
                            options.lengths);
  require(log_decay.shape() == features || log_decay.shape() == Shape{features[2], features[3]},
          gated_name, "decays must be (H, F) or (B, T, H, F): log_decay ", log_decay.shape(),
          ", k ", k.shape());
}

/// Returns the sums of the tangents of decays from each sequence's start. -> (B, T, H, F)
Var sums_of_decays(const Var& d, const Shape& tokens, const GatedLinearAttentionOptions& options) {
  const Shape flat{tokens[0], tokens[1], tokens[2] * tokens[3]};
  const Var steps = reshape(broadcast_to(d, tokens), flat);
  const Var ones(filled({flat[2]}, 1));
  return reshape(diagonal_scan(ones, steps, {}, {options.reverse, options.lengths}), tokens);
}

}  // namespace

Var gated_linear_attention(const Var& q, const Var& k, const Var& v, const Var& log_decay,
                           const GatedLinearAttentionOptions& options) {
  require_gated(q, k, v, log_decay, options);
  const bool all_tokens = options.lengths.empty();
  const auto like = [all_tokens](const Var& x) { return unwritten(x.shape(), all_tokens); };
  Tensor y = like(v);
  const GatedAttention in(q, k, v, log_decay, options);
  if (y.size() > 0)
    each_gated_part<GatedHead>(in, forward_parts(in), [&](GatedHead& head) { head.run(y.data()); });
  return record(
      gated_name, std::move(y), {q, k, v, log_decay},
      [=](Tensor& g) {
        if (g.size() == 0) return;
        const GatedAttention in(q, k, v, log_decay, options);
        Tensor dq = like(q), dk = like(k), dv = like(v);
        const bool of_tokens = in.decays_learned && in.by_token;
        Tensor dg = of_tokens ? like(log_decay) : Tensor();
        std::vector<double> sums(in.by_token ? 0 : in.B * in.H * in.F);
        each_gated_part<GatedHeadBack>(in, backward_parts(in), [&](GatedHeadBack& head) {
          head.run(g.data(), dq.data(), dk.data(), dv.data(), of_tokens ? dg.data() : nullptr,
                   sums.data());
        });
        q.add_gradient(std::move(dq));
        k.add_gradient(std::move(dk));
        v.add_gradient(std::move(dv));
        if (in.decays_learned)
          log_decay.add_gradient(of_tokens ? std::move(dg) : sum_repeats(sums, log_decay.shape()));
      },
      {{q, [&](const Var& d) { return gated_linear_attention(d, k, v, log_decay, options); }},
       {k, [&](const Var& d) { return gated_linear_attention(q, d, v, log_decay, options); }},
       {v, [&](const Var& d) { return gated_linear_attention(q, k, d, log_decay, options); }},
       {log_decay, [&](const Var& d) {
          const Var sums = sums_of_decays(d, q.shape(), options);
          return gated_linear_attention(q * sums, k, v, log_decay, options) -
                 gated_linear_attention(q, k * sums, v, log_decay, options);
        }}});
}

Tensor gated_linear_attention_step(Tensor& state, const Tensor& q, const Tensor& k, const Tensor& v,
                                   const Tensor& log_decay) {
  require(state.dimension() >= 3, gated_name, "a state is (.., F, d), not ", state.shape());
  const Shape features = without_last(state.shape()), heads = without_last(features);
  const std::size_t H = element_count(heads), F = features.back(), d = state.shape().back();
  Shape values = heads;
  values.push_back(d);
  require(q.shape() == features && k.shape() == features && log_decay.shape() == features &&
              v.shape() == values,
          gated_name, "a token of a state (.., F, d) ", state.shape(),
          " has q, k, log_decay (.., F): ", q.shape(), ", ", k.shape(), ", ", log_decay.shape(),
          ", and v (.., d): ", v.shape());
  Tensor y = zeros(values);
  parallel_rows(H, 4 * F * d, [&](std::size_t h) {
    const real* value = v.data() + h * d;
    real* to = y.data() + h * d;
    for (std::size_t row = h * F; row < (h + 1) * F; ++row) {
      const real decay = math::exp(log_decay.data()[row]);
      const real key = k.data()[row], query = q.data()[row];
      real* s = state.data() + row * d;
      for (std::size_t e = 0; e < d; ++e) {
        s[e] = std::fma(decay, s[e], key * value[e]);
        to[e] = std::fma(query, s[e], to[e]);
      }
    }
  });
  return y;
}

}  // namespace bochner::inline BOCHNER_PRECISION
