#include <bochner/autodiff/ops/attention/attention_by_ops.hpp>
#include <bochner/autodiff/ops/attention/linear_attention_parts.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Returns (B, T, H, d) as (B, H, T, d), or back.
Var swap_heads(const Var& x) { return transpose(x, {0, 2, 1, 3}); }

/// Pairs of tokens that attend. (B, 1, T, T), 1 or 0
Tensor pairs_of(const Shape& tokens, bool causal, const std::vector<std::size_t>& lengths) {
  const std::size_t B = tokens[0], T = tokens[1];
  Tensor pairs = zeros({B, 1, T, T});
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t i = 0, n = length_of(lengths, b, T); i < n; ++i)
      std::fill_n(pairs.data() + (b * T + i) * T, causal ? i + 1 : n, real(1));
  return pairs;
}

/// Returns the penalty on each pair's lag. `rate` (H) or (B, T, H), T tokens -> (.., H, T, T)
Var penalties(const Var& rate, std::size_t T) {
  Tensor lags = uninitialized({T, T}), until = uninitialized({T, T});
  for (std::size_t i = 0; i < T * T; ++i) {
    const auto lag = std::ptrdiff_t(i / T) - std::ptrdiff_t(i % T);
    lags.data()[i] = real(std::abs(lag)), until.data()[i] = real(lag >= 0);
  }
  if (rate.rank() == 1) return reshape(rate, {rate.dim(0), 1, 1}) * lags;
  const Var elapsed = transpose(matmul(Var(until), rate), {0, 2, 1});  // (B, H, T)
  const std::size_t B = elapsed.dim(0), H = elapsed.dim(1);
  return abs(reshape(elapsed, {B, H, T, 1}) - reshape(elapsed, {B, H, 1, T}));
}

/// Returns logits of pairs that attend, and of others -1e30.
Var masked_logits(const Var& logits, const Tensor& pairs) {
  return where(pairs, logits, Var(filled({}, real(-1e30))));
}

/// Returns 1 for tokens and 0 for padding. (B, 1, T, 1)
Tensor tokens_of(const Tensor& pairs) {
  const std::size_t B = pairs.shape()[0], T = pairs.shape()[2];
  Tensor tokens = zeros({B, 1, T, 1});
  for (std::size_t i = 0; i < pairs.size(); ++i)
    tokens.data()[i / T] = std::max(tokens.data()[i / T], pairs.data()[i]);
  return tokens;
}

/// Returns whether a token attends to nothing: padding does not attend to itself.
bool has_padding(const Tensor& pairs) {
  const std::size_t T = pairs.shape()[2];
  for (std::size_t row = 0; row < pairs.size() / std::max<std::size_t>(1, T); ++row)
    if (pairs.data()[row * T + row % T] == 0) return true;
  return false;
}

/// Returns the means of values by softmax weights of the pairs, with another term per token if
/// `extra` exists. logits (B, H, T, T), v (B, T, H, d), extra (B, T, H, d + 1)
Var softmax_means(const Var& logits, const Var& v, const Tensor& pairs, const Var& extra = {}) {
  const Var allowed = masked_logits(logits, pairs);
  if (!extra.exists()) {
    const Var weights = softmax(allowed);
    return swap_heads(matmul(has_padding(pairs) ? weights * pairs : weights, swap_heads(v)));
  }
  const std::size_t T = v.dim(1), d = v.dim(3);
  const Var term = swap_heads(extra);
  const Var weights = softmax(concat({allowed, slice(term, -1, d, d + 1)}, -1));
  const Var means = matmul(slice(weights, -1, 0, T), swap_heads(v)) +
                    slice(weights, -1, T, T + 1) * slice(term, -1, 0, d);
  return swap_heads(means * tokens_of(pairs));
}

/// Returns ln sum_f e^(q_f + k_f) of all pairs. (B, H, T, F) twice -> (B, H, T, T)
Var log_kernels(const Var& q, const Var& k) {
  const Var top_q(max(q, -1, keep).value()), top_k(max(k, -1, keep).value());
  const Var sums = matmul_nt(exp(q - top_q), exp(k - top_k));
  const Var least(filled({}, std::numeric_limits<real>::min()));
  return log(maximum(sums, least)) + top_q + transpose(top_k, {0, 1, 3, 2});
}

/// Returns the logarithms of each token's largest feature as constants. (B, H, T, F) -> (B, H, T,
/// 1)
Var tops_of(const Var& logarithms) { return Var(max(logarithms, -1, keep).value()); }

/// Returns whether the largest features of a head's keys are within a factor of e^40.
bool are_of_one_scale(const Var& tops) {
  const Tensor spread = (max(tops, -2) + max(-tops, -2)).value();
  return std::all_of(spread.begin(), spread.end(), [](real u) { return u < 40; });
}

/// Returns whether a sum of weights may have lost terms, or all.
bool underflow(const Var& sums) {
  const Tensor& all = sums.value();
  return std::any_of(all.begin(), all.end(),
                     [](real sum) { return sum < linear_attention_parts::least_sum; });
}

}  // namespace

Var softmax_attention_by_ops(const Var& q, const Var& k, const Var& v, const Var& rate, bool causal,
                             const std::vector<std::size_t>& lengths) {
  const double factor = 1 / std::sqrt(double(q.dim(3)));
  Var logits = matmul_nt(swap_heads(q), swap_heads(k)) * factor;
  if (rate.exists()) logits = logits - penalties(rate, q.dim(1));
  return softmax_means(logits, v, pairs_of(q.shape(), causal, lengths));
}

Var local_attention_by_ops(const Var& q, const Var& k, const Var& v, const Var& rate,
                           std::size_t window) {
  const std::size_t T = q.dim(1);
  const double factor = 1 / std::sqrt(double(q.dim(3)));
  Var logits = matmul_nt(swap_heads(q), swap_heads(k)) * factor;
  if (rate.exists())
    logits = logits - penalties(rate, T) + reshape(rate, {rate.dim(0), 1, 1}) * double(window);
  Tensor pairs = pairs_of(q.shape(), true, {});
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (i / T % T >= i % T + window) pairs.data()[i] = 0;
  const Var log_sums = logsumexp(masked_logits(logits, pairs), -1, keep);
  return concat({softmax_means(logits, v, pairs), swap_heads(log_sums)}, -1);
}

Var linear_attention_by_ops(const Features& q, const Features& k, const Var& v, const Var& rate,
                            const LinearAttentionOptions& options, const Var& extra) {
  const Var queries = swap_heads(q.values()), keys = swap_heads(k.values());
  const Tensor pairs = pairs_of(v.shape(), options.causal, options.lengths);
  const Var penalty = rate.exists() ? penalties(rate, v.dim(1)) : Var(zeros({}));
  const bool logarithmic = q.scale == FeatureScale::logarithmic;
  const auto means_of_logs = [&] {
    const Var logs = logarithmic ? log_kernels(queries, keys) : log(matmul_nt(queries, keys));
    return softmax_means(logs - penalty, v, pairs, extra);
  };
  if (extra.exists()) return means_of_logs();
  Var scaled_queries = queries, scaled_keys = keys;
  if (logarithmic) {
    if (keys.size() == 0 || !are_of_one_scale(tops_of(keys))) return means_of_logs();
    scaled_queries = exp(queries - tops_of(queries));
    scaled_keys = exp(keys - max(tops_of(keys), -2, keep));  // the scales cancel
  }
  const Var products = matmul_nt(scaled_queries, scaled_keys);
  const Var weights = (rate.exists() ? products * exp(-penalty) : products) * pairs;
  const Var one_for_padding = 1 - Var(tokens_of(pairs));  // its sums are 0
  Var sums = sum(weights, -1, keep);
  if (options.floor > 0) sums = maximum(sums, Var(filled({}, options.floor)));
  sums = sums + one_for_padding;
  if (logarithmic && underflow(sums)) return means_of_logs();
  return swap_heads(matmul(weights, swap_heads(v)) / sums);
}

}  // namespace bochner::inline BOCHNER_PRECISION
