#include <algorithm>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops/attention/gated_linear_attention.hpp>
#include <bochner/autodiff/ops/broadcast.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/attention/channel_attention.hpp>
#include <bochner/layers/attention/feature_heads.hpp>
#include <cmath>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Features as the op takes them, and the logarithms of the units of their sums (B, T, H, 1), ()
/// where they are 1.
struct PlainFeaturePair {
  Var q, k, log_decay;
  Tensor log_unit;
};

/// Where positive features are logarithms: every channel's sum is kept in a unit that follows its
/// largest key, u_t = max(u_(t-1) + log_decay_t, ln k_t), so that k_t / e^(u_t) <= 1 and decays by
/// u_(t-1) + log_decay_t - u_t <= 0 between units; queries, times e^(u_t), are relative to their
/// largest channel, whose sum is at least 1. No unit depends on what is to come, and the quotient
/// of sums depends on none, so that they are constants. Milakov and Gimelshein, "Online
/// normalizer", 2018.
///
/// All in one loop, for it is memory that takes the time.
class Units {
 public:
  Units(const Tensor& q, const Tensor& k, const Tensor& log_decay)
      : key(uninitialized(k.shape())),
        query(uninitialized(k.shape())),
        moved(uninitialized(k.shape())),
        log_unit(uninitialized({k.shape()[0], k.shape()[1], k.shape()[2], 1})),
        q_(q.data()),
        k_(k.data()),
        log_decay_(log_decay.data()),
        by_token_(log_decay.dimension() == 4) {}

  /// From the first token to the last or back; `unit` (B, H, F) is that of the past, if there is
  /// one, and moves on. Heads that lie side by side go together, for memory is read in order then,
  /// unless sequences are too few to be tasks of their own.
  void follow(const std::vector<std::size_t>& lengths, bool reverse, std::vector<double>* unit) {
    constexpr std::size_t enough_tasks = 8;
    const std::size_t B = key.shape()[0], H = key.shape()[2];
    const std::size_t parts = std::clamp<std::size_t>(enough_tasks / std::max<std::size_t>(B, 1), 1,
                                                      std::max<std::size_t>(H, 1));
    parallel_tasks(B * parts, [&](std::size_t task) {
      const std::size_t b = task / parts, part = task % parts;
      follow_heads(b, part * H / parts, (part + 1) * H / parts, lengths, reverse, unit);
    });
  }

  /// Keys, queries and logarithms of decays in these units (B, T, H, F).
  Tensor key, query, moved;
  Tensor log_unit;
  static constexpr real nothing = std::numeric_limits<real>::lowest() / 4;

 private:
  /// Heads [first, last) of sequence b.
  void follow_heads(std::size_t b, std::size_t first, std::size_t last,
                    const std::vector<std::size_t>& lengths, bool reverse,
                    std::vector<double>* unit) {
    const std::size_t T = key.shape()[1], H = key.shape()[2], F = key.shape()[3];
    const std::size_t length = length_of(lengths, b, T);
    std::vector<double> past((last - first) * F, double(nothing));
    if (unit) std::copy_n(unit->data() + (b * H + first) * F, past.size(), past.begin());
    for (std::size_t i = 0; i < length; ++i)
      for (std::size_t h = first; h < last; ++h)
        take((b * T + (reverse ? length - 1 - i : i)) * H + h, h, F, past.data() + (h - first) * F);
    for (std::size_t t = length; t < T; ++t)
      for (std::size_t h = first; h < last; ++h) pass((b * T + t) * H + h, h, F);
    if (unit) std::copy(past.begin(), past.end(), unit->data() + (b * H + first) * F);
  }

  const real* decay_of(std::size_t row, std::size_t h, std::size_t F) const {
    return log_decay_ + (by_token_ ? row : h) * F;
  }
  /// Units are double, or a slow decay would be lost in that of a large key.
  void take(std::size_t row, std::size_t h, std::size_t F, double* __restrict past) {
    const real* __restrict decay = decay_of(row, h, F);
    const real* __restrict q = q_ + row * F, * __restrict k = k_ + row * F;
    real* __restrict to_k = key.data() + row * F, * __restrict to_q = query.data() + row * F;
    real* __restrict move = moved.data() + row * F;
    for (std::size_t f = 0; f < F; ++f) {
      const double unit = std::max({past[f] + double(decay[f]), double(k[f]), double(nothing)});
      move[f] = past[f] > double(nothing) ? real(double(decay[f]) + (past[f] - unit)) : decay[f];
      to_k[f] = math::exp(real(double(k[f]) - unit));
      to_q[f] = real(double(q[f]) + unit);
      past[f] = unit;
    }
    const real top = std::max(max_row(to_q, F), nothing);
    for (std::size_t f = 0; f < F; ++f)  // at most 1, but that `top` is rounded
      to_q[f] = math::exp(std::min(real(0), real(double(q[f]) + (past[f] - double(top)))));
    log_unit.data()[row] = top;
  }
  /// Padding: features of 1.
  void pass(std::size_t row, std::size_t h, std::size_t F) {
    std::fill_n(key.data() + row * F, F, real(1));
    std::fill_n(query.data() + row * F, F, real(1));
    std::copy_n(decay_of(row, h, F), F, moved.data() + row * F);
    log_unit.data()[row] = 0;
  }

  const real *q_, *k_, *log_decay_;
  bool by_token_;
};

/// e^(x + c), computed already, of constants c.
Var exponential(Tensor y, const Var& x) {
  return record("exp", std::move(y), {x},
                [x = x.gradient_only()](const Tensor& y, Tensor& gradient) {
                  update_each(
                      gradient, [](real g, real v) { return g * v; }, y);
                  x.add_gradient(std::move(gradient));
                });
}

/// x + c, computed already, of constants c (B, T, H, F).
Var moved_by_constants(Tensor y, const Var& x) {
  return record("add", std::move(y), {x},
                [x = x.gradient_only()](Tensor& gradient) { x.add_gradient(std::move(gradient)); });
}

PlainFeaturePair plain_features(const Features& q, const Features& k, const Var& log_decay,
                                const std::vector<std::size_t>& lengths, bool reverse,
                                std::vector<double>* unit = nullptr) {
  const Var queries = q.values(), keys = k.values();
  if (q.scale == FeatureScale::linear) return {queries, keys, log_decay, {}};
  Units units(queries.value(), keys.value(), log_decay.value());
  units.follow(lengths, reverse, unit);
  return {exponential(std::move(units.query), queries), exponential(std::move(units.key), keys),
          moved_by_constants(std::move(units.moved), log_decay), std::move(units.log_unit)};
}

/// (B, T, H, d) -> (B, T, H, d + 1): the last is 1, whose sum is that of weights.
Var with_one(const Var& v) {
  return concat({v, filled({v.dim(0), v.dim(1), v.dim(2), 1}, real(1))}, -1);
}

/// 1 where features have underflowed, 0 elsewhere.
Tensor vanished(const Tensor& weights) {
  constexpr real tiny = std::numeric_limits<real>::min() * 1024;
  Tensor y = uninitialized(weights.shape());
  for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] = std::abs(weights.data()[i]) < tiny;
  return y;
}

/// (B, T, H, d + 1) -> (B, T, H, d): 0 where nothing is left of the weights, as in
/// linear_attention().
Var quotient(const Var& sums, real floor) {
  const std::size_t d = sums.dim(3) - 1;
  const Var values = slice(sums, -1, 0, d), weights = slice(sums, -1, d, d + 1);
  if (floor > 0) return values / maximum(weights, Var(filled({1}, floor)));
  const Tensor none = vanished(weights.value());
  if (std::find(none.begin(), none.end(), real(1)) == none.end()) return values / weights;
  const Var one(filled({1}, real(1))), zero(zeros({1}));
  return where(none, zero, values / where(none, one, weights));
}

/// Minus the rates, with an axis of channels. -> (H, F) or (B, T, H, F)
Var log_decay_of(const Var& rate, const Shape& features) {
  const bool is_of_heads = rate.rank() % 2 == 1;  // (H) or (B, T, H)
  if (!is_of_heads) return -rate;
  Shape one = rate.shape(), each = rate.shape();
  one.push_back(1), each.push_back(features[3]);
  return broadcast_to(reshape(-rate, one), each);
}

/// e^(log_unit - larger of both)
Var relative_units(const Tensor& log_unit, const Tensor& other) {
  Tensor factor = uninitialized(log_unit.shape());
  for (std::size_t i = 0; i < factor.size(); ++i)
    factor.data()[i] = std::exp(std::min(real(0), log_unit.data()[i] - other.data()[i]));
  return Var(std::move(factor));
}

}  // namespace

Var channel_attention(const Features& q, const Features& k, const Var& v, const Var& rate,
                      const LinearAttentionOptions& options, const Var& reverse_rate) {
  const Var values = with_one(v);
  const auto pass = [&](bool reverse, const Var& rates, Tensor& log_unit) {
    const PlainFeaturePair plain =
        plain_features(q, k, log_decay_of(rates, k.shape()), options.lengths, reverse);
    log_unit = plain.log_unit;
    return gated_linear_attention(plain.q, plain.k, values, plain.log_decay,
                                  {options.chunk, options.lengths, reverse, reverse});
  };
  Tensor past_unit, future_unit;
  const Var past = pass(false, rate, past_unit);
  if (options.causal) return quotient(past, options.floor);
  const Var future = pass(true, reverse_rate.exists() ? reverse_rate : rate, future_unit);
  if (q.scale == FeatureScale::linear) return quotient(past + future, options.floor);
  return quotient(past * relative_units(past_unit, future_unit) +
                      future * relative_units(future_unit, past_unit),
                  options.floor);
}

Var channel_attention_step(ChannelState& state, const Features& q, const Features& k, const Var& v,
                           const Var& rate, real floor) {
  const Shape features = k.shape();
  const std::size_t rows = features[0] * features[2], F = features[3], d = v.dim(3);
  if (state.sums.dimension() == 0) {
    state.sums = zeros({rows, F, d + 1});
    state.unit.assign(rows * F, double(Units::nothing));
  }
  const Var log_decay = broadcast_to(log_decay_of(rate, features), features);
  const PlainFeaturePair plain = plain_features(q, k, log_decay, {}, false, &state.unit);
  Tensor y = gated_linear_attention_step(state.sums, single_token(plain.q), single_token(plain.k),
                                         single_token(with_one(v)), single_token(plain.log_decay));
  y.reshape(Shape{features[0], 1, features[2], d + 1});
  return quotient(Var(std::move(y)), floor);
}

}  // namespace bochner::inline BOCHNER_PRECISION
