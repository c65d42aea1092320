#pragma once
/// Shared by both passes of exact attention: blocks of 64 queries by 64 keys.
///
/// Logits of a block are transposed, (keys, queries), and so are sums of values, (d, queries):
/// maxima, sums and weights of the queries are elementwise along rows, without sums across a
/// vector. Logits are in units of ln 2, so weights are powers of two. Blocks of a head are packed
/// contiguously before repeated use; missing queries of the last block are zeros.

#include <algorithm>
#include <array>
#include <bochner/autodiff/compute/arena.hpp>
#include <bochner/autodiff/compute/bfloat16/amx.hpp>
#include <bochner/autodiff/compute/decay.hpp>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/tape.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/processor/prefetch.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {
namespace softmax_parts {

inline constexpr std::size_t block = 64;
inline constexpr std::size_t max_blocks = 8;

/// Sizes and inputs. q, k, v (B, T, H, d); rows of a head are H d apart. No tokens from lengths[b].
struct Attention {
  std::size_t B, T, H, d;
  const real *q, *k, *v, *rate;
  bool causal;
  const std::size_t* lengths;  ///< nullptr: all T
  /// Cumulative rates of each token (B, H, T), for rates per token; else nullptr.
  const double* penalty = nullptr;
  real scale() const { return 1 / std::sqrt(real(d)); }
  real logit_factor() const { return log2_e * scale(); }
  std::size_t stride() const { return H * d; }
  std::size_t length(std::size_t b) const { return lengths ? lengths[b] : T; }
  /// Returns whether block products use AMX.
  bool in_amx() const { return d >= 32 && has_amx(); }
  /// Returns the blocks that a task keeps in cache while it iterates over the other side, which is
  /// packed again per panel. With AMX, a step of softmax-lm takes 3 % less with 8 than with 4.
  std::size_t panel() const { return in_amx() ? max_blocks : max_blocks / 2; }
  std::size_t panels() const { return ceil_div(T, panel() * block); }
};

/// One head of one sequence, in blocks.
struct Head {
  const Attention& a;
  std::size_t b, h;
  std::size_t offset(std::size_t index) const {
    return (b * a.T + index * block) * a.stride() + h * a.d;
  }
  std::size_t blocks() const { return ceil_div(a.length(b), block); }
  std::size_t rows(std::size_t index) const { return std::min(block, a.length(b) - index * block); }
  const double* penalty(std::size_t index) const {
    return a.penalty + (b * a.H + h) * a.T + index * block;
  }
  std::size_t keys_of(std::size_t query_block) const {
    return a.causal ? query_block + 1 : blocks();
  }
  std::size_t first_query_of(std::size_t key_block) const { return a.causal ? key_block : 0; }
};

/// Copies to (rows, d) = factor * from, whose rows are `stride` apart.
inline void pack_rows(const real* from, std::size_t stride, std::size_t rows, std::size_t d,
                      real factor, real* to) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t e = 0; e < d; ++e) to[i * d + e] = factor * from[i * stride + e];
  }
}

inline void pack_columns(const real* from, std::size_t stride, std::size_t rows, std::size_t d,
                         real* to) {
  if (rows < block) std::fill_n(to, d * block, real(0));
  transpose_matrix(rows, d, from, stride, to, block);
}

/// A factor of block products: as stored, and space for its bfloat16 parts or null.
struct Factor {
  Operand at;
  real* parts;
  const Factor& pack_left(std::size_t M, std::size_t K) const {
    if (parts) bochner::pack_left(M, K, at, parts);
    return *this;
  }
  const Factor& pack_right(std::size_t N, std::size_t K) const {
    if (parts) bochner::pack_right(N, K, at, parts);
    return *this;
  }
};

/// A block of keys by a block of queries. On the causal diagonal, only the second half of the
/// queries sees the second half of the keys; products skip the rest.
struct Pair {
  std::size_t query_block, key_block, rows, keys, d;
  bool diagonal;
  Pair(const Head& head, std::size_t query, std::size_t key)
      : query_block(query),
        key_block(key),
        rows(head.rows(query)),
        keys(head.rows(key)),
        d(head.a.d),
        diagonal(head.a.causal && query == key) {}

  /// Computes s (keys, block) = a (keys, d) b (d, block), undefined where skipped.
  void multiply(const Factor& a, const Factor& b, real* s) const {
    if (a.parts) return multiply_all(keys, block, d, a, b, 0, s);
    const std::size_t first = cut();
    gemm(first, block, d, a.at, b.at, 0, s, block);
    gemm(keys - first, block - first, d, {a.at.data + first * d, d}, {b.at.data + first, block}, 0,
         s + first * block + first, block);
  }
  /// Computes c (keys, d) = s (keys, block) b (rows, d) + beta c.
  void sum_queries(const Factor& s, const Factor& b, real beta, real* c) const {
    if (s.parts) return multiply_all(keys, d, rows, s, b, beta, c);
    const std::size_t first = cut();
    gemm(first, d, rows, s.at, b.at, beta, c, d);
    gemm(keys - first, d, rows - first, {s.at.data + first * block + first, block},
         {b.at.data + first * d, d}, beta, c + first * d, d);
  }
  /// Computes c (d, block) = b^T (d, keys) s (keys, block) + beta c.
  void sum_keys(const Factor& b, const Factor& s, real beta, real* c) const {
    if (s.parts) return multiply_all(d, block, keys, b, s, beta, c);
    const std::size_t first = cut();
    const Operand transposed_b{b.at.data, d, transposed};
    if (first < keys) {
      gemm(d, first, first, transposed_b, s.at, beta, c, block);
      gemm(d, block - first, keys, transposed_b, {s.at.data + first, block}, beta, c + first,
           block);
    } else {
      gemm(d, block, keys, transposed_b, s.at, beta, c, block);
    }
  }
  /// Sets everything above the diagonal, including what multiply() skips.
  void mask(real value, real* s) const {
    if (!diagonal) return;
    for (std::size_t j = 0; j < keys; ++j) std::fill_n(s + j * block, j, value);
  }

 private:
  /// Computes whole products with AMX; masked elements are computed and counted.
  static void multiply_all(std::size_t M, std::size_t N, std::size_t K, const Factor& a,
                           const Factor& b, real beta, real* c) {
    count_product(M, N, K);
    multiply_packed(M, N, K, a.parts, b.parts, beta, c, N);
  }
  /// Returns the number of keys that all queries see, in halves.
  std::size_t cut() const { return diagonal ? std::min(keys, block / 2) : keys; }
};

inline real lag(std::size_t i, std::size_t j) { return i > j ? real(i - j) : real(j - i); }

/// Subtracts the penalty between each key and query from s (keys, block). Differences are taken in
/// double, so that a long pause does not blur later lags.
inline void subtract_penalties(const Head& head, const Pair& pair, real* s) {
  const double* keys = head.penalty(pair.key_block);
  double queries[block] = {};
  std::copy_n(head.penalty(pair.query_block), pair.rows, queries);
  for (std::size_t j = 0; j < pair.keys; ++j) {
    for (std::size_t i = 0; i < block; ++i)
      s[j * block + i] -= log2_e * real(std::abs(queries[i] - keys[j]));
  }
}

/// Computes logits s (keys, block) of packed queries (d, block) and scaled keys (keys, d).
inline void logits(const Head& head, const Pair& pair, const Factor& keys, const Factor& queries,
                   real* s) {
  pair.multiply(keys, queries, s);
  if (head.a.rate) {
    const real rate = log2_e * head.a.rate[head.h];
    for (std::size_t j = 0; j < pair.keys; ++j) {
      for (std::size_t i = 0; i < block; ++i)
        s[j * block + i] -= rate * lag(pair.query_block * block + i, pair.key_block * block + j);
    }
  } else if (head.a.penalty) {
    subtract_penalties(head, pair, s);
  }
  pair.mask(-std::numeric_limits<real>::infinity(), s);
}

/// Rows of d elements that are read next. Each of several pairs prefetches its share, one row at a
/// time while it computes weights: rows of a head are short pieces that hardware does not foresee,
/// and a processor drops most of many simultaneous requests.
class RowPrefetch {
 public:
  RowPrefetch(std::size_t rows, std::size_t d) : rows_(rows), d_(d) {}
  void add(const real* first, std::size_t stride) { of_[count_++] = {first, stride}; }
  /// Returns every `pairs`-th row, from number `pair` on.
  RowPrefetch of_pair(std::size_t pair, std::size_t pairs) const {
    RowPrefetch part = *this;
    part.first_ = pair;
    part.step_ = pairs;
    return part;
  }
  void ask(std::size_t index) const {
    const std::size_t row = first_ + index * step_;
    for (std::size_t i = 0; row < rows_ && i < count_; ++i)
      prefetch_into_second_cache(of_[i].first + row * of_[i].stride, d_);
  }

 private:
  struct Rows {
    const real* first;
    std::size_t stride;
  };
  std::size_t rows_, d_, first_ = 0, step_ = 1, count_ = 0;
  std::array<Rows, 4> of_;
};

/// Takes space for bfloat16 parts of factors, nullptr without AMX.
template <class... Pieces>
void take_parts(Arena& arena, const Attention& a, std::size_t n, std::size_t K,
                Pieces*&... pieces) {
  ((pieces = nullptr), ...);
  if (a.in_amx()) arena.take(parts_size(n, K), pieces...);
}

/// Gradients of q, k, v and of the rate (B, H) or the penalty (B, groups, H, T), in double.
struct AttentionGradients {
  Tensor q, k, v;
  std::vector<double> rate, penalty;
};

/// Computes y and log_sum (B, H, T), base-2 logarithms of the sums of weights.
void forward(const Attention& a, real* out, real* log_sum);
/// Computes gradients of existing tokens from g of y; `log_sum` (B, H, T) is from forward().
void backward(const Attention& a, const real* y, const real* g, const real* log_sum,
              AttentionGradients& out);

// Rates per token, for irregular time: a logit is reduced by |penalty_i - penalty_j|, with
// `penalty` the ascending cumulative sums of the rates.

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
