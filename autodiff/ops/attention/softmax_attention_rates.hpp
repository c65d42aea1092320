#pragma once
/// Exact attention with rates per token, for irregular time: a logit is reduced by |penalty_i -
/// penalty_j|, with `penalty` the ascending cumulative sums of the rates.

#include <bochner/autodiff/compute/decay.hpp>
#include <bochner/autodiff/ops/attention/softmax_attention_parts.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {
namespace softmax_parts {

/// Returns the cumulative sums of the rates (B, T, H) -> (B, H, T).
inline std::vector<double> sums_of_rates(const Var& rate) {
  const std::size_t T = rate.dim(1), H = rate.dim(2);
  std::vector<double> penalty(rate.value().size());
  parallel_rows(rate.dim(0) * H, T, [&](std::size_t row) {
    const real* from = rate.data() + row / H * T * H + row % H;
    double sum = 0;
    for (std::size_t t = 0; t < T; ++t) penalty[row * T + t] = sum += bounded_rate(from[t * H]);
  });
  return penalty;
}

/// Sums penalty gradients over a rate's token and later ones. (B, groups, H, T) -> (B, T, H)
inline Tensor token_rates(const Attention& a, const std::vector<double>& penalty) {
  Tensor rate = zeros({a.B, a.T, a.H});
  const std::size_t groups = rate.size() > 0 ? penalty.size() / rate.size() : 0;
  parallel_rows(a.B * a.H, a.T, [&](std::size_t row) {
    const std::size_t b = row / a.H, h = row % a.H;
    double sum = 0;
    for (std::size_t t = a.T; t-- > 1;) {
      for (std::size_t group = 0; group < groups; ++group)
        sum += penalty[((b * groups + group) * a.H + h) * a.T + t];
      rate(b, t, h) = real(sum);
    }
  });
  return rate;
}

/// Adds the gradients dp of a pair's logits to the gradient of `penalty` (T).
inline void add_penalty_gradient(const Pair& pair, const real* dp, double* penalty) {
  double *queries = penalty + pair.query_block * block, *keys = penalty + pair.key_block * block;
  for (std::size_t j = 0; j < pair.keys; ++j) {
    const std::size_t key = pair.key_block * block + j;
    double sum = 0;
    for (std::size_t i = 0; i < pair.rows; ++i) {
      const std::size_t query = pair.query_block * block + i;
      const auto slope = double(dp[j * block + i]);
      const double term = query > key ? slope : query < key ? -slope : 0;
      queries[i] -= term;
      sum += term;
    }
    keys[j] += sum;
  }
}

}  // namespace softmax_parts
}  // namespace bochner::inline BOCHNER_PRECISION
