#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops.hpp>
#include <bochner/autodiff/ops/broadcast.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/attention/channel_attention.hpp>
#include <bochner/layers/attention/feature_heads.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Inputs of gated_linear_attention(), and the log scales of its sums, (B, T, H, 1), or () for 1.
struct PlainFeaturePair {
  Var q, k, log_decay;
  Tensor log_scale;
};

/// Scales for features given as logarithms: each channel's sum is stored relative to a running
/// maximum of its keys, u_t = max(u_(t-1) + log_decay_t, ln k_t), so that k_t / e^(u_t) <= 1 and
/// decays by u_(t-1) + log_decay_t - u_t <= 0. Queries, times e^(u_t), are relative to their
/// largest channel, whose sum is at least 1. Scales depend on the past only and cancel in the
/// quotient of sums, so gradients treat them as constants. Milakov and Gimelshein, "Online
/// normalizer", 2018. One loop does it all: memory traffic dominates.
class RunningScale {
 public:
  RunningScale(const Tensor& q, const Tensor& k, const Tensor& log_decay)
      : key(uninitialized(k.shape())),
        query(uninitialized(k.shape())),
        scaled_decay(uninitialized(k.shape())),
        log_scale(uninitialized({k.shape()[0], k.shape()[1], k.shape()[2], 1})),
        q_(q.data()),
        k_(k.data()),
        log_decay_(log_decay.data()),
        by_token_(log_decay.dimension() == 4) {}

  /// Scans tokens forward or in reverse. `scale` (B, H, F), if given, is the scale of the past and
  /// is updated. A task takes adjacent heads of a sequence, which reads memory in order, and fewer
  /// of them if there are few sequences.
  void scan(const std::vector<std::size_t>& lengths, bool reverse, std::vector<double>* scale) {
    constexpr std::size_t enough_tasks = 8;
    const std::size_t B = key.shape()[0], H = key.shape()[2];
    const std::size_t parts = std::clamp<std::size_t>(enough_tasks / std::max<std::size_t>(B, 1), 1,
                                                      std::max<std::size_t>(H, 1));
    parallel_tasks(B * parts, [&](std::size_t task) {
      const std::size_t b = task / parts, part = task % parts;
      scan_heads(b, part * H / parts, (part + 1) * H / parts, lengths, reverse, scale);
    });
  }

  /// Scaled keys, queries and log decays (B, T, H, F).
  Tensor key, query, scaled_decay;
  Tensor log_scale;
  static constexpr real log_zero = std::numeric_limits<real>::lowest() / 4;

 private:
  void scan_heads(std::size_t b, std::size_t first, std::size_t last,
                  const std::vector<std::size_t>& lengths, bool reverse,
                  std::vector<double>* scale) {
    const std::size_t T = key.shape()[1], H = key.shape()[2], F = key.shape()[3];
    const std::size_t length = length_of(lengths, b, T);
    std::vector<double> past((last - first) * F, double(log_zero));
    if (scale) std::copy_n(scale->data() + (b * H + first) * F, past.size(), past.begin());
    for (std::size_t i = 0; i < length; ++i)
      for (std::size_t h = first; h < last; ++h)
        add_token((b * T + (reverse ? length - 1 - i : i)) * H + h, h, F,
                  past.data() + (h - first) * F);
    for (std::size_t t = length; t < T; ++t)
      for (std::size_t h = first; h < last; ++h) skip_token((b * T + t) * H + h, h, F);
    if (scale) std::copy(past.begin(), past.end(), scale->data() + (b * H + first) * F);
  }

  const real* decay_of(std::size_t row, std::size_t h, std::size_t F) const {
    return log_decay_ + (by_token_ ? row : h) * F;
  }
  /// Scales one token. Scales are double: in float, a large key would absorb a slow decay.
  void add_token(std::size_t row, std::size_t h, std::size_t F, double* __restrict past) {
    const real* __restrict decay = decay_of(row, h, F);
    const real* __restrict q = q_ + row * F, * __restrict k = k_ + row * F;
    real* __restrict to_k = key.data() + row * F, * __restrict to_q = query.data() + row * F;
    real* __restrict move = scaled_decay.data() + row * F;
    for (std::size_t f = 0; f < F; ++f) {
      const double next = std::max({past[f] + double(decay[f]), double(k[f]), double(log_zero)});
      move[f] = past[f] > double(log_zero) ? real(double(decay[f]) + (past[f] - next)) : decay[f];
      to_k[f] = math::exp(real(double(k[f]) - next));
      to_q[f] = real(double(q[f]) + next);
      past[f] = next;
    }
    const real top = std::max(max_row(to_q, F), log_zero);
    for (std::size_t f = 0; f < F; ++f)  // `top` is rounded: the exponent may exceed 0
      to_q[f] = math::exp(std::min(real(0), real(double(q[f]) + (past[f] - double(top)))));
    log_scale.data()[row] = top;
  }
  /// Sets the features of padding to 1.
  void skip_token(std::size_t row, std::size_t h, std::size_t F) {
    std::fill_n(key.data() + row * F, F, real(1));
    std::fill_n(query.data() + row * F, F, real(1));
    std::copy_n(decay_of(row, h, F), F, scaled_decay.data() + row * F);
    log_scale.data()[row] = 0;
  }

  const real *q_, *k_, *log_decay_;
  bool by_token_;
};

/// Records y = e^(x + c), already computed, for constants c.
Var exponential(Tensor y, const Var& x) {
  return record("exp", std::move(y), {x},
                [x = x.gradient_only()](const Tensor& y, Tensor& gradient) {
                  update_each(
                      gradient, [](real g, real v) { return g * v; }, y);
                  x.add_gradient(std::move(gradient));
                },
                {{x, [](const Var& d, const Var& y) { return d * y; }}});
}

/// Records y = x + c, already computed, for constants c (B, T, H, F).
Var add_constants(Tensor y, const Var& x) {
  return record("add", std::move(y), {x},
                [x = x.gradient_only()](Tensor& gradient) { x.add_gradient(std::move(gradient)); },
                {{x, [](const Var& d) { return d; }}});
}

PlainFeaturePair plain_features(const Features& q, const Features& k, const Var& log_decay,
                                const std::vector<std::size_t>& lengths, bool reverse,
                                std::vector<double>* scale = nullptr) {
  const Var queries = q.values(), keys = k.values();
  if (q.scale == FeatureScale::linear) return {queries, keys, log_decay, {}};
  RunningScale scaled(queries.value(), keys.value(), log_decay.value());
  scaled.scan(lengths, reverse, scale);
  return {exponential(std::move(scaled.query), queries), exponential(std::move(scaled.key), keys),
          add_constants(std::move(scaled.scaled_decay), log_decay), std::move(scaled.log_scale)};
}

/// Appends a value of 1, whose sum is that of the weights. (B, T, H, d) -> (B, T, H, d + 1)
Var with_one(const Var& v) {
  return concat({v, filled({v.dim(0), v.dim(1), v.dim(2), 1}, real(1))}, -1);
}

/// Returns 1 where features have underflowed, else 0.
Tensor underflowed(const Tensor& weights) {
  constexpr real tiny = std::numeric_limits<real>::min() * 1024;
  Tensor y = uninitialized(weights.shape());
  for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] = std::abs(weights.data()[i]) < tiny;
  return y;
}

/// Divides sums of values by sums of weights; 0 where all weights underflowed, as in
/// linear_attention(). (B, T, H, d + 1) -> (B, T, H, d)
Var quotient(const Var& sums, real floor) {
  const std::size_t d = sums.dim(3) - 1;
  const Var values = slice(sums, -1, 0, d), weights = slice(sums, -1, d, d + 1);
  if (floor > 0) return values / maximum(weights, Var(filled({1}, floor)));
  const Tensor none = underflowed(weights.value());
  if (std::find(none.begin(), none.end(), real(1)) == none.end()) return values / weights;
  const Var one(filled({1}, real(1))), zero(zeros({1}));
  return where(none, zero, values / where(none, one, weights));
}

/// Returns minus the rates, one per channel. -> (H, F) or (B, T, H, F)
Var log_decay_of(const Var& rate, const Shape& features) {
  const bool per_head = rate.rank() % 2 == 1;  // (H) or (B, T, H)
  if (!per_head) return -rate;
  Shape one = rate.shape(), each = rate.shape();
  one.push_back(1), each.push_back(features[3]);
  return broadcast_to(reshape(-rate, one), each);
}

/// Returns e^(log_scale - max(log_scale, other)).
Var relative_scale(const Tensor& log_scale, const Tensor& other) {
  Tensor factor = uninitialized(log_scale.shape());
  for (std::size_t i = 0; i < factor.size(); ++i)
    factor.data()[i] = std::exp(std::min(real(0), log_scale.data()[i] - other.data()[i]));
  return Var(std::move(factor));
}

}  // namespace

Var channel_attention(const Features& q, const Features& k, const Var& v, const Var& rate,
                      const LinearAttentionOptions& options, const Var& reverse_rate) {
  const Var values = with_one(v);
  const auto pass = [&](bool reverse, const Var& rates, Tensor& log_scale) {
    const PlainFeaturePair plain =
        plain_features(q, k, log_decay_of(rates, k.shape()), options.lengths, reverse);
    log_scale = plain.log_scale;
    return gated_linear_attention(plain.q, plain.k, values, plain.log_decay,
                                  {options.chunk, options.lengths, reverse, reverse});
  };
  Tensor past_scale, future_scale;
  const Var past = pass(false, rate, past_scale);
  if (options.causal) return quotient(past, options.floor);
  const Var future = pass(true, reverse_rate.exists() ? reverse_rate : rate, future_scale);
  if (q.scale == FeatureScale::linear) return quotient(past + future, options.floor);
  return quotient(past * relative_scale(past_scale, future_scale) +
                      future * relative_scale(future_scale, past_scale),
                  options.floor);
}

Var channel_attention_step(ChannelState& state, const Features& q, const Features& k, const Var& v,
                           const Var& rate, real floor) {
  const Shape features = k.shape();
  const std::size_t rows = features[0] * features[2], F = features[3], d = v.dim(3);
  if (state.sums.dimension() == 0) {
    state.sums = zeros({rows, F, d + 1});
    state.log_scale.assign(rows * F, double(RunningScale::log_zero));
  }
  const Var log_decay = broadcast_to(log_decay_of(rate, features), features);
  const PlainFeaturePair plain = plain_features(q, k, log_decay, {}, false, &state.log_scale);
  Tensor y = gated_linear_attention_step(state.sums, single_token(plain.q), single_token(plain.k),
                                         single_token(with_one(v)), single_token(plain.log_decay));
  y.reshape(Shape{features[0], 1, features[2], d + 1});
  return quotient(Var(std::move(y)), floor);
}

}  // namespace bochner::inline BOCHNER_PRECISION
