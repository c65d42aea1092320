#include <algorithm>
#include <bochner/autodiff/ops/attention/dplr_delta_rule.hpp>
#include <bochner/autodiff/ops/attention/dplr_delta_rule_parts.hpp>
#include <bochner/autodiff/ops/features.hpp>

namespace bochner::inline BOCHNER_PRECISION {

using namespace dplr_parts;

namespace {

constexpr const char* dplr_name = "dplr_delta_rule";
constexpr std::size_t largest_chunk = 16;
constexpr real largest_rate = 4;

void require_dplr(const DplrTensors<const Var&>& x, const DplrDeltaRuleOptions& options) {
  const Shape features = x.q.shape();
  require_feature_attention(dplr_name, features, x.k.shape(), x.v.shape(), options.chunk,
                            options.lengths);
  require(x.a.shape() == features && x.b.shape() == features && x.rate.shape() == features,
          dplr_name, "a, b and rate must be (B, T, H, F) as q: q ", features, ", a ", x.a.shape(),
          ", b ", x.b.shape(), ", rate ", x.rate.shape());
  const real* rates = x.rate.data();
  const std::size_t n = x.rate.size();
  const auto outside = parallel_sum<double>(n, elementwise_grain(n), [&](auto begin, auto end) {
    return double(std::count_if(rates + begin, rates + end,
                                [](real rate) { return !(rate >= 0 && rate <= largest_rate); }));
  });
  require(outside == 0, dplr_name, "rates must be 0 to ", largest_rate, "; ", outside, " are not");
}

DplrInputs dplr_inputs(const DplrTensors<const Var&>& x, const DplrDeltaRuleOptions& options) {
  const std::size_t T = x.v.dim(1);
  const std::size_t C = std::max<std::size_t>(1, std::min({options.chunk, T, largest_chunk}));
  return {x.v.dim(0),
          T,
          x.v.dim(2),
          x.q.dim(3),
          x.v.dim(3),
          C,
          {x.q.data(), x.k.data(), x.v.data(), x.a.data(), x.b.data(), x.rate.data()},
          options.lengths,
          options.reverse};
}

}  // namespace

Var dplr_delta_rule(const Var& q, const Var& k, const Var& v, const Var& a, const Var& b,
                    const Var& rate, const DplrDeltaRuleOptions& options) {
  require_dplr({q, k, v, a, b, rate}, options);
  const std::vector<Var> inputs{q, k, v, a, b, rate};
  const bool all_tokens = options.lengths.empty();
  const bool wanted = std::ranges::any_of(inputs, &Var::needs_gradient);
  const DplrInputs in = dplr_inputs({q, k, v, a, b, rate}, options);
  const FullPrecision exact;
  const auto states = std::make_shared<Tensor>();
  Tensor y = unwritten(v.shape(), all_tokens);
  if (wanted) *states = uninitialized({in.B, in.H, in.chunks(), in.F, in.d});
  if (y.size() > 0)
    each_part<DplrHead>(in, in.B * in.H, [&](DplrHead& head) {
      head.run(wanted ? states->data() : nullptr, y.data());
    });
  return record(dplr_name, std::move(y), inputs, [=](Tensor& g) {
    const FullPrecision exact;
    if (g.size() == 0) return;
    const DplrInputs in = dplr_inputs({q, k, v, a, b, rate}, options);
    const auto like = [all_tokens](const Var& x) { return unwritten(x.shape(), all_tokens); };
    DplrTensors<Tensor> gradient{like(q), like(k), like(v), like(a), like(b), like(rate)};
    const DplrTensors<real*> to{gradient.q.data(), gradient.k.data(), gradient.v.data(),
                                gradient.a.data(), gradient.b.data(), gradient.rate.data()};
    each_part<DplrHeadBack>(in, in.B * in.H,
                            [&](DplrHeadBack& head) { head.run(states->data(), g.data(), to); });
    q.add_gradient(std::move(gradient.q));
    k.add_gradient(std::move(gradient.k));
    v.add_gradient(std::move(gradient.v));
    a.add_gradient(std::move(gradient.a));
    b.add_gradient(std::move(gradient.b));
    rate.add_gradient(std::move(gradient.rate));
  });
}

Tensor dplr_delta_rule_step(Tensor& state, const Tensor& q, const Tensor& k, const Tensor& v,
                            const Tensor& a, const Tensor& b, const Tensor& rate) {
  const Shape& shape = state.shape();
  require(shape.size() == 3, dplr_name, "a state is (H, F, d), not ", shape);
  const std::size_t H = shape[0], F = shape[1], d = shape[2];
  for (const Tensor* x : {&q, &k, &a, &b, &rate})
    require(x->shape() == Shape{H, F} && v.shape() == Shape{H, d}, dplr_name,
            "a token of a state (H, F, d) ", shape,
            " has q, k, a, b, rate (H, F) and v (H, d), not ", x->shape(), " and ", v.shape());
  Tensor y = zeros({H, d});
  parallel_rows(H, 6 * F * d, [&](std::size_t h) {
    std::vector<real> recalled(d);
    const real* value = v.data() + h * d;
    real* to = y.data() + h * d;
    for (std::size_t row = h * F; row < (h + 1) * F; ++row)
      add_row(a.data()[row], state.data() + row * d, d, recalled.data());
    for (std::size_t row = h * F; row < (h + 1) * F; ++row) {
      const real decay = math::exp(-rate.data()[row]), add = b.data()[row], key = k.data()[row];
      real* s = state.data() + row * d;
      for (std::size_t e = 0; e < d; ++e) s[e] = decay * s[e] + add * recalled[e] + key * value[e];
      add_row(q.data()[row], s, d, to);
    }
  });
  return y;
}

}  // namespace bochner::inline BOCHNER_PRECISION
