#include <bochner/autodiff/ops/attention/log_linear_attention.hpp>
#include <bochner/autodiff/ops/attention/log_linear_attention_parts.hpp>
#include <bochner/autodiff/ops/features.hpp>

namespace bochner::inline BOCHNER_PRECISION {

using namespace log_linear_parts;

namespace {

constexpr const char* log_linear_name = "log_linear_attention";

void require_log_linear(const Var& q, const Var& k, const Var& v, const Var& weights,
                        const Var& rate, const LogLinearOptions& options) {
  require_feature_attention(log_linear_name, q.shape(), k.shape(), v.shape(), options.chunk,
                            options.lengths);
  const Shape tokens = without_last(q.shape());
  require(weights.rank() == 4 && without_last(weights.shape()) == tokens && weights.dim(3) >= 2,
          log_linear_name, "weights must be (B, T, H, L) with L >= 2: weights ", weights.shape(),
          ", q ", q.shape());
  require(!rate.exists() || rate.shape() == Shape{tokens[2]} || rate.shape() == tokens,
          log_linear_name, "one rate per head, (H) or (B, T, H): rate ",
          rate.exists() ? rate.shape() : Shape{}, ", q ", q.shape());
}

LogLinearInputs log_linear_inputs(const Var& q, const Var& k, const Var& v, const Var& weights,
                                  const Var& rate, const LogLinearOptions& options) {
  const std::size_t T = v.dim(1);
  const std::size_t C = std::bit_floor(std::max<std::size_t>(1, std::min(options.chunk, T)));
  return {v.dim(0),
          T,
          v.dim(2),
          q.dim(3),
          v.dim(3),
          weights.dim(3),
          C,
          q.data(),
          k.data(),
          v.data(),
          weights.data(),
          rate.exists() ? rate.data() : nullptr,
          rate.exists() && rate.rank() == 3,
          options.lengths,
          options.reverse};
}

/// One token of one head: q, k (F), v (d), weights (L), and the sums of its past.
struct LogLinearStep {
  LogLinearState& state;
  std::size_t h, F, d, L;
  const real *q, *k, *v, *weights;
  real decay;

  real* sums(std::size_t bit) const { return state.sums[bit].data() + h * F * d; }
  /// Decays the past and adds what the query reads of it and of its own token to y (d).
  void read(real* y) const {
    for (std::size_t bit = 0; state.tokens >> bit > 0; ++bit)
      if (state.tokens >> bit & 1) read_level(bit, y);
    const real own = weights[0] * dot_row(q, k, F);
    for (std::size_t e = 0; e < d; ++e) y[e] += own * v[e];
  }
  void read_level(std::size_t bit, real* y) const {
    real* row = sums(bit);
    const real weight = weights[std::min(bit + 1, L - 1)];
    for (std::size_t f = 0; f < F; ++f, row += d)
      for (std::size_t e = 0; e < d; ++e) {
        row[e] *= decay;
        y[e] += weight * q[f] * row[e];
      }
  }
  /// Joins the token with the sums that it completes, into those of bit `free`.
  void write(std::size_t free) const {
    real* to = sums(free);
    for (std::size_t i = 0; i < F * d; ++i) {
      to[i] = k[i / d] * v[i % d];
      for (std::size_t bit = 0; bit < free; ++bit) to[i] += sums(bit)[i];
    }
  }
};

/// Adds sums of 0 up to bit `free`, and throws if those that exist have another shape.
void prepare_sums(LogLinearState& state, std::size_t free, const Shape& shape) {
  if (free >= state.sums.size()) state.sums.resize(free + 1);
  for (Tensor& sums : state.sums) {
    if (sums.dimension() == 0) sums = zeros(shape);
    require(sums.shape() == shape, log_linear_name, "a state of sums ", sums.shape(),
            " has no token of heads ", shape);
  }
}

}  // namespace

Var log_linear_attention(const Var& q, const Var& k, const Var& v, const Var& weights,
                         const Var& rate, const LogLinearOptions& options) {
  require_log_linear(q, k, v, weights, rate, options);
  const FullPrecision exact;
  const bool all_tokens = options.lengths.empty();
  const auto like = [all_tokens](const Var& x) { return unwritten(x.shape(), all_tokens); };
  Tensor y = like(v);
  const LogLinearInputs in = log_linear_inputs(q, k, v, weights, rate, options);
  if (y.size() > 0)
    each_part<LogLinearHead>(in, in.B * in.H, [&](LogLinearHead& head) { head.run(y.data()); });
  return record(log_linear_name, std::move(y), {q, k, v, weights, rate}, [=](Tensor& g) {
    const FullPrecision exact;
    if (g.size() == 0) return;
    const LogLinearInputs in = log_linear_inputs(q, k, v, weights, rate, options);
    Tensor dq = like(q), dk = like(k), dv = like(v), dw = like(weights);
    Tensor by_token = in.rate_by_token ? like(rate) : Tensor();
    std::vector<double> sums(in.B * in.H);
    const LogLinearGradients to{
        dq.data(),  dk.data(), dv.data(), dw.data(), in.rate_by_token ? by_token.data() : nullptr,
        sums.data()};
    each_part<LogLinearHeadBack>(in, in.B * in.H,
                                 [&](LogLinearHeadBack& head) { head.run(g.data(), to); });
    q.add_gradient(std::move(dq));
    k.add_gradient(std::move(dk));
    v.add_gradient(std::move(dv));
    weights.add_gradient(std::move(dw));
    if (rate.exists())
      rate.add_gradient(in.rate_by_token ? std::move(by_token) : sum_repeats(sums, rate.shape()));
  });
}

Tensor log_linear_attention_step(LogLinearState& state, const Tensor& q, const Tensor& k,
                                 const Tensor& v, const Tensor& weights, const Tensor* rate) {
  require(q.dimension() == 2 && v.dimension() == 2 && weights.dimension() == 2 &&
              q.shape() == k.shape() && v.shape()[0] == q.shape()[0] &&
              weights.shape()[0] == q.shape()[0] && (!rate || rate->size() == q.shape()[0]),
          log_linear_name, "a token has q, k (H, F), v (H, d), weights (H, L) and rates (H): q ",
          q.shape(), ", k ", k.shape(), ", v ", v.shape(), ", weights ", weights.shape());
  const std::size_t H = q.shape()[0], F = q.shape()[1], d = v.shape()[1], L = weights.shape()[1];
  const auto free = std::size_t(std::countr_one(state.tokens));
  prepare_sums(state, free, {H, F, d});
  Tensor y = zeros({H, d});
  parallel_rows(H, 4 * F * d * state.sums.size(), [&](std::size_t h) {
    const LogLinearStep step{state,
                             h,
                             F,
                             d,
                             L,
                             q.data() + h * F,
                             k.data() + h * F,
                             v.data() + h * d,
                             weights.data() + h * L,
                             rate ? math::exp(-rate->data()[h]) : real(1)};
    step.read(y.data() + h * d);
    step.write(free);
  });
  ++state.tokens;
  return y;
}

}  // namespace bochner::inline BOCHNER_PRECISION
