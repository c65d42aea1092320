#pragma once
/// What forward and backward of exact attention share: blocks of 64 queries against 64 keys.
///
/// Logits of a block stand transposed, (keys, queries), and so do sums of values, (d, queries):
/// maxima, sums and weights of the queries are then elementwise along rows, without sums across a
/// vector. Logits are in units of ln 2, so that weights are powers of two. Blocks of a head are
/// copied next to each other before they are used many times; queries missing in the last block are
/// zeros.

#include <algorithm>
#include <array>
#include <bochner/autodiff/compute/amx.hpp>
#include <bochner/autodiff/compute/arena.hpp>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/prefetch.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {
namespace softmax_parts {

inline constexpr std::size_t block = 64;
/// Most blocks of a panel.
inline constexpr std::size_t most_blocks = 8;

/// q, k, v (B, T, H, d): rows of one head are H d apart. Tokens from lengths[b] on do not exist.
struct Attention {
  std::size_t B, T, H, d;
  const real *q, *k, *v, *rate;
  bool causal;
  const std::size_t* lengths;  ///< nullptr: all T
  /// What is lost from the start of the sequence to each token, (B, H, T), where rates differ from
  /// token to token; else nullptr.
  const double* lost = nullptr;
  real scale() const { return 1 / std::sqrt(real(d)); }
  real logit_factor() const { return log2_e * scale(); }
  std::size_t stride() const { return H * d; }
  std::size_t length(std::size_t b) const { return lengths ? lengths[b] : T; }
  /// Whether products of blocks are worth it.
  bool in_amx() const { return d >= 32 && has_amx(); }
  /// Blocks that a task keeps in cache while it walks along the other side, which is packed anew
  /// for each panel: in matrix units, 8 take 3 % less of a step of softmax-lm than 4.
  std::size_t panel() const { return in_amx() ? most_blocks : most_blocks / 2; }
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
  const double* lost(std::size_t index) const {
    return a.lost + (b * a.H + h) * a.T + index * block;
  }
  /// Blocks of keys that the queries of a block see.
  std::size_t keys_of(std::size_t query_block) const {
    return a.causal ? query_block + 1 : blocks();
  }
  /// The first block of queries that sees the keys of a block.
  std::size_t first_query_of(std::size_t key_block) const { return a.causal ? key_block : 0; }
};

/// to (rows, d) = factor * from, whose rows are `stride` apart.
inline void pack_rows(const real* from, std::size_t stride, std::size_t rows, std::size_t d,
                      real factor, real* to) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t e = 0; e < d; ++e) to[i * d + e] = factor * from[i * stride + e];
  }
}

/// to (d, block) = from^T.
inline void pack_columns(const real* from, std::size_t stride, std::size_t rows, std::size_t d,
                         real* to) {
  if (rows < block) std::fill_n(to, d * block, real(0));
  transpose_matrix(rows, d, from, stride, to, block);
}

/// A factor of products of blocks: as it lies, and its parts for matrix units, or no place for
/// them.
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

/// A block of keys against a block of queries. On the diagonal of causal attention the second half
/// of the keys is seen by the second half of the queries only: products leave the rest out.
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

  /// s (keys, block) = a (keys, d) b (d, block), undefined where it is left out.
  void multiply(const Factor& a, const Factor& b, real* s) const {
    if (a.parts) return multiply_all(keys, block, d, a, b, 0, s);
    const std::size_t first = cut();
    gemm(first, block, d, a.at, b.at, 0, s, block);
    gemm(keys - first, block - first, d, {a.at.data + first * d, d}, {b.at.data + first, block}, 0,
         s + first * block + first, block);
  }
  /// c (keys, d) = s (keys, block) b (rows, d) + beta c
  void sum_queries(const Factor& s, const Factor& b, real beta, real* c) const {
    if (s.parts) return multiply_all(keys, d, rows, s, b, beta, c);
    const std::size_t first = cut();
    gemm(first, d, rows, s.at, b.at, beta, c, d);
    gemm(keys - first, d, rows - first, {s.at.data + first * block + first, block},
         {b.at.data + first * d, d}, beta, c + first * d, d);
  }
  /// c (d, block) = b^T (d, keys) s (keys, block) + beta c
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
  /// Sets what multiply() leaves out, and all else above the diagonal.
  void mask(real value, real* s) const {
    if (!diagonal) return;
    for (std::size_t j = 0; j < keys; ++j) std::fill_n(s + j * block, j, value);
  }

 private:
  /// In matrix units: what would be left out is masked, and counted.
  static void multiply_all(std::size_t M, std::size_t N, std::size_t K, const Factor& a,
                           const Factor& b, real beta, real* c) {
    count_product(M, N, K);
    multiply_packed(M, N, K, a.parts, b.parts, beta, c, N);
  }
  /// Keys that all queries see, by halves.
  std::size_t cut() const { return diagonal ? std::min(keys, block / 2) : keys; }
};

inline real lag(std::size_t i, std::size_t j) { return i > j ? real(i - j) : real(j - i); }

/// s (keys, block) less what is lost between each key and query: differences are taken in double,
/// so that a long pause blurs no lag behind it.
inline void lose(const Head& head, const Pair& pair, real* s) {
  const double* keys = head.lost(pair.key_block);
  double queries[block] = {};
  std::copy_n(head.lost(pair.query_block), pair.rows, queries);
  for (std::size_t j = 0; j < pair.keys; ++j) {
    for (std::size_t i = 0; i < block; ++i)
      s[j * block + i] -= log2_e * real(std::abs(queries[i] - keys[j]));
  }
}

/// s (keys, block): logits of packed queries (d, block) and of packed keys (keys, d) that have the
/// factor logit_factor().
inline void logits(const Head& head, const Pair& pair, const Factor& keys, const Factor& queries,
                   real* s) {
  pair.multiply(keys, queries, s);
  if (head.a.rate) {
    const real rate = log2_e * head.a.rate[head.h];
    for (std::size_t j = 0; j < pair.keys; ++j) {
      for (std::size_t i = 0; i < block; ++i)
        s[j * block + i] -= rate * lag(pair.query_block * block + i, pair.key_block * block + j);
    }
  } else if (head.a.lost) {
    lose(head, pair, s);
  }
  pair.mask(-std::numeric_limits<real>::infinity(), s);
}

/// Rows of blocks that are read next, d elements each, and of them those that one of several pairs
/// asks for, one at a time while it weighs: rows of a head are short pieces that no processor
/// foresees, and of many requests at once it forgets most.
class RowsAhead {
 public:
  RowsAhead(std::size_t rows, std::size_t d) : rows_(rows), d_(d) {}
  void add(const real* first, std::size_t stride) { of_[count_++] = {first, stride}; }
  /// Every `pairs`-th row, from number `pair` on.
  RowsAhead of_pair(std::size_t pair, std::size_t pairs) const {
    RowsAhead part = *this;
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

/// Places for parts of factors, nullptr without matrix units.
template <class... Pieces>
void take_parts(Arena& arena, const Attention& a, std::size_t n, std::size_t K,
                Pieces*&... pieces) {
  ((pieces = nullptr), ...);
  if (a.in_amx()) arena.take(parts_size(n, K), pieces...);
}

/// Gradients of q, k and v, and of the rate of each head per sequence, (B, H), or of what is lost
/// up to each token, (B, groups, H, T), in double.
struct AttentionGradients {
  Tensor q, k, v;
  std::vector<double> rate, lost;
};

/// y and log_sum (B, H, T): logarithms of the sums of weights to base 2.
void forward(const Attention& a, real* out, real* log_sum);
/// Fills in the gradients, of tokens that exist, from those of the output y; `log_sum` (B, H, T) is
/// what the forward pass kept.
void backward(const Attention& a, const real* y, const real* g, const real* log_sum,
              AttentionGradients& out);

}  // namespace softmax_parts

}  // namespace bochner::inline BOCHNER_PRECISION
