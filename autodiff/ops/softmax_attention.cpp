#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/autodiff/compute/reduce.hpp>
#include <bochner/autodiff/ops/attention_gradients.hpp>
#include <bochner/autodiff/ops/sequence.hpp>
#include <cmath>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t block = 64;
constexpr real minus_infinity = -std::numeric_limits<real>::infinity();

/// q, k, v (B, T, H, d): rows of one head are H d apart.
struct Attention {
  std::size_t B, T, H, d;
  const real *q, *k, *v, *rate;
  bool causal;
  real scale() const { return 1 / std::sqrt(real(d)); }
  std::size_t stride() const { return H * d; }
  std::size_t offset(std::size_t b, std::size_t h, std::size_t t) const {
    return (b * T + t) * H * d + h * d;
  }
  std::size_t blocks() const { return (T + block - 1) / block; }
  std::size_t rows(std::size_t index) const {
    return std::min(T, (index + 1) * block) - index * block;
  }
  /// Blocks of keys that the queries of a block may see.
  std::size_t key_blocks(std::size_t query_block) const {
    return causal ? query_block + 1 : blocks();
  }
};

real lag(std::size_t i, std::size_t j) { return i > j ? real(i - j) : real(j - i); }

/// Logits of one block of queries against one block of keys: (rows, columns) with stride `block`.
void logits(const Attention& a, std::size_t b, std::size_t h, std::size_t query_block,
            std::size_t key_block, real* s) {
  const std::size_t rows = a.rows(query_block), columns = a.rows(key_block);
  const std::size_t first_query = query_block * block, first_key = key_block * block;
  gemm(Transpose::no, Transpose::yes, rows, columns, a.d, a.scale(),
       a.q + a.offset(b, h, first_query), a.stride(), a.k + a.offset(b, h, first_key), a.stride(),
       0, s, block);
  if (a.rate) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        s[i * block + j] -= a.rate[h] * lag(first_query + i, first_key + j);
      }
    }
  }
  if (a.causal && query_block == key_block) {
    for (std::size_t i = 0; i < rows; ++i)
      std::fill(s + i * block + i + 1, s + i * block + columns, minus_infinity);
  }
}

/// One block of queries with a running maximum and sum over the blocks of keys (online softmax).
void forward_block(const Attention& a, std::size_t b, std::size_t h, std::size_t query_block,
                   real* out, real* log_sum, real* scratch) {
  real *s = scratch, *top = s + block * block, *sum = top + block;
  const std::size_t rows = a.rows(query_block), first = query_block * block;
  real* y = out + a.offset(b, h, first);
  std::fill_n(top, rows, minus_infinity);
  std::fill_n(sum, rows, real(0));
  for (std::size_t key_block = 0; key_block < a.key_blocks(query_block); ++key_block) {
    const std::size_t columns = a.rows(key_block);
    logits(a, b, h, query_block, key_block, s);
    for (std::size_t i = 0; i < rows; ++i) {
      real* row = s + i * block;
      const real highest = max_row(row, columns);
      const real new_top = top[i] > highest ? top[i] : highest;
      const real keep = math::exp(top[i] - new_top);
      for (std::size_t j = 0; j < columns; ++j) row[j] = math::exp(row[j] - new_top);
      sum[i] = sum[i] * keep + sum_row(row, columns);
      top[i] = new_top;
      if (key_block == 0) continue;
      for (std::size_t e = 0; e < a.d; ++e) y[i * a.stride() + e] *= keep;
    }
    gemm(Transpose::no, Transpose::no, rows, a.d, columns, 1, s, block,
         a.v + a.offset(b, h, key_block * block), a.stride(), key_block == 0 ? real(0) : real(1), y,
         a.stride());
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const real factor = 1 / sum[i];
    for (std::size_t e = 0; e < a.d; ++e) y[i * a.stride() + e] *= factor;
    log_sum[i] = top[i] + std::log(sum[i]);
  }
}

constexpr std::size_t backward_scratch(std::size_t T) { return 2 * block * block + T; }

/// One head of one sequence; probabilities are computed again from log_sum (T). Returns dL/drate.
double backward_head(const Attention& a, std::size_t b, std::size_t h, const real* y, const real* g,
                     const real* log_sum, AttentionGradients& out, real* scratch) {
  real *p = scratch, *dp = p + block * block, *inner = dp + block * block;
  const std::size_t stride = a.stride(), head = a.offset(b, h, 0);
  for (std::size_t t = 0; t < a.T; ++t)
    inner[t] = dot_row(y + head + t * stride, g + head + t * stride, a.d);
  double rate_gradient = 0;
  for (std::size_t key_block = 0; key_block < a.blocks(); ++key_block) {
    const std::size_t keys = a.offset(b, h, key_block * block), columns = a.rows(key_block);
    const std::size_t first_query_block = a.causal ? key_block : 0;
    for (std::size_t query_block = first_query_block; query_block < a.blocks(); ++query_block) {
      const std::size_t first = query_block * block, queries = a.offset(b, h, first),
                        rows = a.rows(query_block);
      logits(a, b, h, query_block, key_block, p);
      gemm(Transpose::no, Transpose::yes, rows, columns, a.d, 1, g + queries, stride, a.v + keys,
           stride, 0, dp, block);
      for (std::size_t i = 0; i < rows; ++i) {
        real *pi = p + i * block, *di = dp + i * block;
        const real shift = log_sum[first + i], mean = inner[first + i];
        for (std::size_t j = 0; j < columns; ++j) pi[j] = math::exp(pi[j] - shift);
        for (std::size_t j = 0; j < columns; ++j) di[j] = pi[j] * (di[j] - mean);
        if (!a.rate) continue;
        real weighted = 0;
        for (std::size_t j = 0; j < columns; ++j)
          weighted += di[j] * lag(first + i, key_block * block + j);
        rate_gradient -= double(weighted);
      }
      const real beta_key = query_block == first_query_block ? real(0) : real(1);
      gemm(Transpose::yes, Transpose::no, columns, a.d, rows, 1, p, block, g + queries, stride,
           beta_key, out.v.data() + keys, stride);
      gemm(Transpose::yes, Transpose::no, columns, a.d, rows, a.scale(), dp, block, a.q + queries,
           stride, beta_key, out.k.data() + keys, stride);
      gemm(Transpose::no, Transpose::no, rows, a.d, columns, a.scale(), dp, block, a.k + keys,
           stride, key_block == 0 ? real(0) : real(1), out.q.data() + queries, stride);
    }
  }
  return rate_gradient;
}

void backward(const Attention& a, const Tensor& y, const Tensor& g, const Tensor& log_sum,
              AttentionGradients& gradients) {
  Scratch<real> scratch(backward_scratch(a.T));
  parallel_tasks(a.B * a.H, [&](std::size_t task) {
    gradients.rate[task] = backward_head(a, task / a.H, task % a.H, y.data(), g.data(),
                                         log_sum.data() + task * a.T, gradients, scratch.local());
  });
}

}  // namespace

Var softmax_attention(const Var& q, const Var& k, const Var& v, const Var& rate, bool causal) {
  require(q.rank() == 4 && q.shape() == k.shape() && q.shape() == v.shape(), "softmax_attention",
          "q, k, v must be (B, T, H, d): q ", q.shape(), ", k ", k.shape(), ", v ", v.shape());
  require(!rate.exists() || rate.shape() == Shape{q.dim(2)}, "softmax_attention",
          "one rate per head: rate ", rate.exists() ? rate.shape() : Shape{}, ", q ", q.shape());
  const auto attention = [causal](const Var& q, const Var& k, const Var& v, const Var& rate) {
    return Attention{q.dim(0), q.dim(1), q.dim(2), q.dim(3),
                     q.data(), k.data(), v.data(), rate.exists() ? rate.data() : nullptr,
                     causal};
  };
  const Attention a = attention(q, k, v, rate);
  Tensor y = uninitialized(q.shape());
  Tensor log_sum = uninitialized({a.B, a.H, a.T});
  if (y.size() > 0) {
    Scratch<real> scratch(block * (block + 2));
    parallel_tasks(a.B * a.H * a.blocks(), [&](std::size_t task) {
      const std::size_t head = task / a.blocks(), query_block = task % a.blocks();
      forward_block(a, head / a.H, head % a.H, query_block, y.data(),
                    log_sum.data() + head * a.T + query_block * block, scratch.local());
    });
  }
  return record("softmax_attention", std::move(y), {q, k, v, rate},
                [=, log_sum = std::move(log_sum)](const Tensor& y, Tensor& g) {
                  if (g.size() == 0) return;
                  AttentionGradients gradients(q.shape(), v.shape());
                  backward(attention(q, k, v, rate), y, g, log_sum, gradients);
                  gradients.hand_to(q, k, v, rate);
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
