#include <bochner/autodiff/compute/lanes.hpp>
#include <bochner/autodiff/ops/attention/attention_by_ops.hpp>
#include <bochner/autodiff/ops/attention/linear_attention_parts.hpp>
#include <bochner/autodiff/ops/sequence.hpp>

namespace bochner::inline BOCHNER_PRECISION {

using namespace linear_attention_parts;

namespace {

constexpr const char* name = "linear_attention";

void require_kinds(const char* op, const Features& q, const Features& k, real floor) {
  require(q.scale == k.scale, op, "queries and keys must both be features or both logarithms");
  require(floor == 0 || q.scale == FeatureScale::linear, op,
          "a floor needs linear features: logarithms have no fixed unit");
}

void require_shapes(const Features& q, const Features& k, const Var& v, const Var& rate,
                    const LinearAttentionOptions& options, const Var& extra) {
  const Shape features = q.shape();
  require_feature_attention(name, features, k.shape(), v.shape(), options.chunk, options.lengths);
  require_kinds(name, q, k, options.floor);
  const Shape tokens = without_last(features);
  if (extra.exists()) {
    const Shape means{tokens[0], tokens[1], tokens[2], v.dim(3) + 1};
    require(options.causal && options.floor == 0, name,
            "extra needs causal attention with positive features");
    require(extra.shape() == means, name, "extra must be (B, T, H, d + 1): ", extra.shape(), ", v ",
            v.shape());
  }
  if (!rate.exists()) return;
  require(options.causal, name, "a time kernel needs causal attention");
  require(rate.shape() == Shape{tokens[2]} || rate.shape() == tokens, name,
          "one rate per head, (H) or (B, T, H): rate ", rate.shape(), ", q ", features);
}

std::vector<Var> inputs_of(const Features& q, const Features& k, const Var& v, const Var& rate,
                           const Var& extra) {
  return {q.tokens, q.frequencies,  q.offset, q.coefficients, k.tokens, k.frequencies,
          k.offset, k.coefficients, v,        rate,           extra};
}

/// Returns the chunk size. Without causality there are no (C, C) products, so a chunk holds as many
/// tokens as 6,144 features: an eighth less time than 32 tokens (Zen 3).
std::size_t chunk_of(const LinearAttentionOptions& options, std::size_t T, std::size_t F) {
  const std::size_t wanted = options.causal
                                 ? options.chunk
                                 : std::max(options.chunk, std::min<std::size_t>(6144 / F, 192));
  return std::max<std::size_t>(1, std::min(wanted, T));
}

/// Returns the heads of a sequence that one task interleaves, while their rows share cache lines
/// and no thread is idle: the rows of a single head defeat hardware prefetching. The backward pass
/// of performer-lm-16k takes 9 % less time with two heads, 15 % with four.
std::size_t heads_per_task(const Sizes& n) {
  constexpr std::size_t line = 64 / sizeof(real), lines = 4;
  const auto turns = [&](std::size_t together) {
    const std::size_t tasks = n.B * n.H / together;
    return ceil_div(tasks, thread_count()) * together;
  };
  std::size_t best = 1;
  for (std::size_t heads = 2; n.d <= line && heads * n.d <= lines * line; heads *= 2) {
    if (n.H % heads == 0 && turns(heads) <= turns(best)) best = heads;
  }
  return best;
}

Sizes sizes_of(const Features& k, const Var& v, const LinearAttentionOptions& options) {
  const std::size_t T = v.dim(1), F = k.shape()[3];
  Sizes n{v.dim(0), T, v.dim(2), F, v.dim(3), chunk_of(options, T, F)};
  n.together = heads_per_task(n);
  if (options.causal) cut_into_spans(n, options.span);
  return n;
}

Attention attention(const Sizes& n, const Features& q, const Features& k, const Var& v,
                    const Var& rate, const LinearAttentionOptions& options, const Var& extra) {
  const bool by_token = rate.exists() && rate.rank() == 3;
  const Decay decay{rate.exists() ? rate.data() : nullptr, by_token, n.T, n.H};
  return {n,
          make_source(q, n.C),
          make_source(k, n.C),
          v.data(),
          decay,
          options.lengths,
          options.floor,
          extra.exists() ? extra.data() : nullptr,
          q.log_factor + k.log_factor,
          q.scale == FeatureScale::logarithmic};
}

}  // namespace

void linear_attention_parts::require_weights(real sum, double unit, const real* query,
                                             std::size_t F) {
  if (!(sum < least_sum) || unit < double(nothing) / 2 || !(max_row(query, F) > 0)) return;
  throw std::underflow_error(
      "[linear_attention] the weights of a token underflow: its query and all keys are too long or "
      "too sharp for their features; lower their sharpness, or set time_kernel.per = \"channel\"");
}

namespace {

constexpr const char* step_name = "linear_attention_step";

void require_step_shapes(const LinearAttentionState& state, const Features& q, const Features& k,
                         const Var& v, const Tensor* rate, real floor, const Tensor* extra) {
  const Shape& sums = state.weighted_values.shape();  // (B H, F, d)
  const Shape features = q.shape();
  require(features.size() == 4 && features[1] == 1 && features == k.shape() &&
              v.shape() == Shape{features[0], 1, features[2], sums[2]} &&
              features[0] * features[2] == sums[0] && features[3] == sums[1],
          step_name, "q and k must be (B, 1, H, F) and v (B, 1, H, d) of a state (B H, F, d) ",
          sums, ": q ", features, ", k ", k.shape(), ", v ", v.shape());
  require(!rate || rate->size() == sums[0], step_name, "one rate per head: state (B H, F, d) ",
          sums);
  require_kinds(step_name, q, k, floor);
  require(!extra || floor == 0, step_name, "extra needs positive features");
  require(!extra || extra->size() == sums[0] * (sums[2] + 1), step_name,
          "extra must be (B H, d + 1) for a state (B H, F, d) ", sums);
}

/// Texts whose features of a head are computed at once: the frequencies stay in cache.
constexpr std::size_t texts_per_block = 16;

/// One token of a head: features in units of exp(log_key), the decay since the last token, and the
/// extra term (or null) with the unit of its query.
struct HeadStep {
  std::size_t F, d;
  real *key, *query;  // (F)
  const real* value;  // (d)
  real log_key, rate;
  const real* extra;  // (d + 1)
  real log_query;
  bool logarithmic;  // features
};

/// Updates state columns from `first` on by one token and reads them. values (F, d), y (d)
template <std::size_t vectors>
void add_value(const HeadStep& in, std::size_t first, real keep, real* values, real* y) {
  NativeLanes value[vectors], sum[vectors] = {};
  for (std::size_t n = 0; n < vectors; ++n)
    value[n] = lanes_at(in.value + first + n * native_lane_count);
  for (std::size_t f = 0; f < in.F; ++f) {
    real* row = values + f * in.d + first;
#pragma GCC unroll 4
    for (std::size_t n = 0; n < vectors; ++n) {
      NativeLanes& seen = lanes_at(row + n * native_lane_count);
      seen = keep * seen + in.key[f] * value[n];
      sum[n] += in.query[f] * seen;
    }
  }
  for (std::size_t n = 0; n < vectors; ++n) lanes_at(y + first + n * native_lane_count) = sum[n];
}

void add_value(const HeadStep& in, real keep, real* values, real* y) {
  constexpr std::size_t lanes = native_lane_count;
  std::size_t e = 0;
  for (; e + 4 * lanes <= in.d; e += 4 * lanes) add_value<4>(in, e, keep, values, y);
  for (; e + 2 * lanes <= in.d; e += 2 * lanes) add_value<2>(in, e, keep, values, y);
  for (; e + lanes <= in.d; e += lanes) add_value<1>(in, e, keep, values, y);
  for (; e < in.d; ++e) {
    y[e] = 0;
    for (std::size_t f = 0; f < in.F; ++f) {
      real& seen = values[f * in.d + e];
      seen = keep * seen + in.key[f] * in.value[e];
      y[e] += in.query[f] * seen;
    }
  }
}

/// Adds a token and computes what the query reads, y (d); returns the sum of weights. The unit
/// moves as in Keys: if it followed every key, a slow decay would be rounded to float at each.
real add_token(const HeadStep& in, std::size_t head, LinearAttentionState& state, real* y) {
  double& unit = state.log_unit[head];
  unit -= double(in.rate);
  const double key = double(in.log_key), top = key > unit + double(Keys::slack) ? key : unit;
  const real keep = math::exp(real(unit - top)), carry = math::exp(real(key - top));
  unit = top;
  real* weights = state.weights.data() + head * in.F;
  for (std::size_t f = 0; f < in.F; ++f) {
    in.key[f] *= carry;
    weights[f] = keep * weights[f] + in.key[f];
  }
  add_value(in, keep, state.weighted_values.data() + head * in.F * in.d, y);
  return dot_row(in.query, weights, in.F);
}

void step(const HeadStep& in, std::size_t head, LinearAttentionState& state, real floor, real* y) {
  const real sum = add_token(in, head, state, y);
  const double unit = state.log_unit[head];
  real factor = safe_inverse(sum, floor > 0 ? floor * math::exp(real(-unit)) : real(0)), share = 0;
  const real log_extra =
      in.extra ? real(double(in.extra[in.d]) - unit - double(in.log_query)) : nothing;
  if (in.logarithmic && log_extra < std::log(least_sum)) require_weights(sum, unit, in.query, in.F);
  if (in.extra) {
    share = extra_share(log_extra, factor == 0 ? real(0) : sum, &factor);
  }
  for (std::size_t e = 0; e < in.d; ++e)
    y[e] = y[e] * factor + (in.extra ? share * in.extra[e] : real(0));
}

}  // namespace

Var linear_attention(const Features& q, const Features& k, const Var& v, const Var& rate,
                     const LinearAttentionOptions& options, const Var& extra) {
  require_shapes(q, k, v, rate, options, extra);
  const std::vector<Var> inputs = inputs_of(q, k, v, rate, extra);
  if (has_tangents(inputs)) return linear_attention_by_ops(q, k, v, rate, options, extra);
  const FullPrecision exact;
  const auto memory = std::make_shared<Memory>();
  const bool all_tokens = options.lengths.empty();
  Tensor y = unwritten(v.shape(), all_tokens);
  Sizes n{};
  if (y.size() > 0) {
    n = sizes_of(k, v, options);
    const Attention in = attention(n, q, k, v, rate, options, extra);
    (options.causal ? attend_causally : attend_bidirectionally)(in, *memory, y);
  }
  return record(name, std::move(y), inputs, [=](const Tensor& y, Tensor& g) {
    if (g.size() == 0) return;
    const FullPrecision exact;
    const Attention in = attention(n, q, k, v, rate, options, extra);
    OtherGradients gradients{unwritten(v.shape(), all_tokens), {}, {}};
    if (extra.exists()) gradients.extra = zeros(extra.shape());
    if (rate.needs_gradient())
      gradients.rate.resize(rate.rank() == 3 ? rate.size() : n.B * n.spans() * n.H);
    in.q->expect_gradients(all_tokens, n.span_tokens());
    in.k->expect_gradients(all_tokens, n.span_tokens());
    (options.causal ? attend_causally_backward : attend_bidirectionally_backward)(in, *memory, y, g,
                                                                                  gradients);
    in.q->flush_gradients();
    in.k->flush_gradients();
    v.add_gradient(std::move(gradients.v));
    if (extra.exists()) extra.add_gradient(std::move(gradients.extra));
    if (rate.needs_gradient()) rate.add_gradient(sum_repeats(gradients.rate, rate.shape()));
  });
}

LinearAttentionState::LinearAttentionState(std::size_t heads, std::size_t features, std::size_t dim)
    : weighted_values(zeros({heads, features, dim})),
      weights(zeros({heads, features})),
      log_unit(heads, double(nothing)) {}

Tensor linear_attention_step(LinearAttentionState& state, const Features& q, const Features& k,
                             const Var& v, const Tensor* rate, real floor, const Tensor* extra) {
  require_step_shapes(state, q, k, v, rate, floor, extra);
  const std::size_t B = v.dim(0), H = v.dim(2), F = state.weights.shape()[1], d = v.dim(3);
  const std::size_t block = std::clamp<std::size_t>(B, 1, texts_per_block);
  const std::size_t blocks = ceil_div(B, block);
  const auto queries = make_source(q, block), keys = make_source(k, block);
  Tensor out = uninitialized(v.shape());
  const Scratch<real> scratch(2 * block * (F + 1));
  // The heads of one text are not worth a second thread.
  parallel_rows(H * blocks, block * F * d, [&](std::size_t index) {
    const std::size_t first = index % blocks * block;
    // One token of each of several texts is laid out as the tokens of one text.
    const Place place{0, index / blocks, first, std::min(block, B - first)};
    real *query = scratch.local(), *key = query + block * F;
    real *log_query = key + block * F, *log_key = log_query + block;
    queries->load(place, query, extra ? log_query : nullptr);
    keys->load(place, key, log_key);
    for (std::size_t i = 0; i < place.rows; ++i, query += F, key += F) {
      const std::size_t head = (first + i) * H + place.h;
      const real* value = v.data() + head * d;
      const real* mean = extra ? extra->data() + head * (d + 1) : nullptr;
      const real unit_of_key = log_key[i] + k.log_factor,
                 lost = rate ? rate->data()[head] : real(0);
      const real unit_of_query = extra ? log_query[i] + q.log_factor : real(0);
      const HeadStep token{
          F,           d,    key,  query,         value,
          unit_of_key, lost, mean, unit_of_query, q.scale == FeatureScale::logarithmic};
      step(token, head, state, floor, out.data() + head * d);
    }
  });
  return out;
}

}  // namespace bochner::inline BOCHNER_PRECISION
