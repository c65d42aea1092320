#pragma once
/// Internals of log_linear_attention(): one head of one sequence, chunk by chunk.

#include <algorithm>
#include <bit>
#include <bochner/autodiff/compute/arena.hpp>
#include <bochner/autodiff/compute/decay.hpp>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/tape.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/product_precision.hpp>
#include <limits>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {
namespace log_linear_parts {

struct LogLinearInputs {
  std::size_t B, T, H, F, d, L, C;         ///< C: tokens per chunk, a power of two
  const real *q, *k, *v, *weights, *rate;  ///< rate (H) or (B, T, H) or null
  bool rate_by_token;
  const std::vector<std::size_t>& lengths;
  bool reverse;
  std::size_t chunks() const { return ceil_div(T, C); }
  std::size_t state() const { return F * d; }
  /// Returns the number of levels above chunks.
  std::size_t levels() const { return std::bit_width(chunks() - std::min<std::size_t>(1, T)); }
};

/// Gradients of the inputs; of rates (B, T, H), or sums (B, H).
struct LogLinearGradients {
  real *q, *k, *v, *weights, *rate;
  double* sums;
};

/// Computes to_i += factor_i from_i, (rows, n).
inline void add_scaled_rows(std::size_t rows, std::size_t n, const real* factor,
                            const real* __restrict from, real* __restrict to) {
  for (std::size_t i = 0; i < rows; ++i, from += n, to += n)
    for (std::size_t e = 0; e < n; ++e) to[e] += factor[i] * from[e];
}

/// Forward pass of a head. `sums` holds a state for each bit of the chunk's index that is set, of
/// the block of chunks that differs from it first in that bit, decayed to the start of the chunk.
class LogLinearHead {
 public:
  LogLinearHead(const LogLinearInputs& in, std::size_t index, Arena& arena)
      : in_(in), b_(index / in.H), h_(index % in.H), length_(length_of(in.lengths, b_, in.T)) {
    arena.take(in.C * in.F, q_, k_);
    arena.take(in.C * in.d, v_, y_, read_);
    arena.take(in.C * in.C, scores_, decays_, pairs_);
    arena.take(in.C, since_, until_, factor_);
    arena.take(in.levels() * in.state(), sums_);
    arena.take(in.state(), own_);
  }

  void run(real* out) {
    for (std::size_t c = 0; c < chunks(); ++c) {
      load(c);
      weigh_pairs();
      for (std::size_t i = 0; i < rows_ * rows_; ++i) pairs_[i] *= scores_[i];
      gemm(rows_, in_.d, rows_, {pairs_, rows_}, {v_, in_.d}, 0, y_, in_.d);
      each_set_bit(c, [&](std::size_t level, const real* sums) {
        read_level(level, sums);
        add_scaled_rows(rows_, in_.d, factor_, read_, y_);
      });
      for (std::size_t i = 0; i < rows_; ++i)
        std::copy_n(y_ + i * in_.d, in_.d, out + token(i) * in_.d);
      add_chunk(c);
    }
  }

 protected:
  std::size_t chunks() const { return ceil_div(length_, in_.C); }
  /// Returns the index of token i of the chunk in (B, T, H).
  std::size_t token(std::size_t i) const {
    const std::size_t t = in_.reverse ? length_ - 1 - first_ - i : first_ + i;
    return (b_ * in_.T + t) * in_.H + h_;
  }
  /// Returns the index of a level's weight in (B, T, H, L).
  std::size_t weight_at(std::size_t i, std::size_t level) const {
    return token(i) * in_.L + std::min(level, in_.L - 1);
  }
  /// Returns the level of chunks that differ first in bit `bit`.
  std::size_t level_of(std::size_t bit) const { return std::bit_width(in_.C) + bit; }
  static std::size_t level_of_pair(std::size_t i, std::size_t j) { return std::bit_width(i ^ j); }

  /// Loads the rows of a chunk and the decays from its start to each token (since) and from each
  /// token to its end (until).
  void load(std::size_t chunk) {
    first_ = chunk * in_.C, rows_ = std::min(in_.C, length_ - first_);
    for (std::size_t i = 0; i < rows_; ++i) {
      std::copy_n(in_.q + token(i) * in_.F, in_.F, q_ + i * in_.F);
      std::copy_n(in_.k + token(i) * in_.F, in_.F, k_ + i * in_.F);
      std::copy_n(in_.v + token(i) * in_.d, in_.d, v_ + i * in_.d);
    }
    double time = 0;
    for (std::size_t i = 0; i < rows_; ++i) since_[i] = math::exp(real(-(time += rate_at(i))));
    time = 0;
    for (std::size_t i = rows_; i-- > 0;) {
      until_[i] = math::exp(real(-time));
      time += rate_at(i);
    }
  }
  double rate_at(std::size_t i) const {
    return in_.rate ? bounded_rate(in_.rate[in_.rate_by_token ? token(i) : h_]) : 0.0;
  }

  /// Sets scores q_i . k_j, decays, and pairs to the weights times the decays, (rows, rows); 0 for
  /// j > i.
  void weigh_pairs() {
    constexpr real tiny = std::numeric_limits<real>::min() * 1024;
    const std::size_t n = rows_;
    gemm(n, n, in_.F, {q_, in_.F}, {k_, in_.F, transposed}, 0, scores_, n);
    std::fill_n(pairs_, n * n, real(0));
    for (std::size_t i = 0; i < n; ++i) {
      real* row = decays_ + i * n;
      const real left = math::exp(real(-rate_at(i)));
      row[i] = 1;
      for (std::size_t j = 0; j < i; ++j) row[j] = row[j - n] > tiny ? row[j - n] * left : real(0);
      for (std::size_t j = 0; j <= i; ++j)
        pairs_[i * n + j] = row[j] * in_.weights[weight_at(i, level_of_pair(i, j))];
    }
  }

  template <class Body>
  void each_set_bit(std::size_t chunk, const Body& body) {
    for (std::size_t bit = 0; chunk >> bit > 0; ++bit)
      if (chunk >> bit & 1) body(level_of(bit), sums_ + bit * in_.state());
  }
  /// Sets `read` to what queries read of a state, without weights, and `factor` to these.
  void read_level(std::size_t level, const real* sums) {
    gemm(rows_, in_.d, in_.F, {q_, in_.F}, {sums, in_.d}, 0, read_, in_.d);
    for (std::size_t i = 0; i < rows_; ++i)
      factor_[i] = in_.weights[weight_at(i, level)] * since_[i];
  }
  /// Decays the states to the end of the chunk and joins its own with those that it completes: a
  /// binary counter of chunks.
  void add_chunk(std::size_t chunk) {
    if (chunk + 1 == chunks()) return;
    each_set_bit(chunk, [&](std::size_t, real* sums) { fade(sums); });
    for (std::size_t i = 0; i < rows_; ++i)
      for (std::size_t f = 0; f < in_.F; ++f) k_[i * in_.F + f] *= until_[i];
    gemm(in_.F, in_.d, rows_, {k_, in_.F, transposed}, {v_, in_.d}, 0, own_, in_.d);
    std::size_t bit = 0;
    for (; chunk >> bit & 1; ++bit)
      for (std::size_t i = 0; i < in_.state(); ++i) own_[i] += sums_[bit * in_.state() + i];
    std::copy_n(own_, in_.state(), sums_ + bit * in_.state());
  }
  void fade(real* state) const {
    if (!in_.rate) return;
    for (std::size_t i = 0; i < in_.state(); ++i) state[i] *= since_[rows_ - 1];
  }

  const LogLinearInputs& in_;
  std::size_t b_, h_, length_, first_ = 0, rows_ = 0;
  real *q_, *k_;                     // (C, F)
  real *v_, *y_, *read_;             // (C, d)
  real *scores_, *decays_, *pairs_;  // (C, C)
  real *since_, *until_, *factor_;   // (C)
  real* sums_;                       // (levels, F, d)
  real* own_;                        // (F, d)
};

/// Backward pass of a head: forward over the chunks for the gradients that states give, then back
/// for those that later tokens give and those within chunks.
class LogLinearHeadBack : LogLinearHead {
 public:
  LogLinearHeadBack(const LogLinearInputs& in, std::size_t index, Arena& arena)
      : LogLinearHead(in, index, arena) {
    arena.take(in.C * in.F, dq_, dk_);
    arena.take(in.C * in.d, g_, dv_);
    arena.take(in.C * in.C, slopes_);
    arena.take(in.C, passing_);
  }

  void run(const real* g, const LogLinearGradients& to) {
    for (std::size_t c = 0; c < chunks(); ++c) {
      load(c);
      load_gradient(g);
      differentiate_reads(c, to);
      add_chunk(c);
    }
    std::fill_n(sums_, in_.levels() * in_.state(), real(0));
    double later = 0;
    for (std::size_t c = chunks(); c-- > 0;) {
      load(c);
      load_gradient(g);
      differentiate_writes(c);
      differentiate_pairs(to);
      if (in_.rate) differentiate_rates(later, to);
      store(to);
      add_queries(c);
    }
  }

 private:
  void load_gradient(const real* g) {
    for (std::size_t i = 0; i < rows_; ++i)
      std::copy_n(g + token(i) * in_.d, in_.d, g_ + i * in_.d);
  }

  /// Stores the gradients of queries and weights through the states.
  void differentiate_reads(std::size_t chunk, const LogLinearGradients& to) {
    std::fill_n(dq_, rows_ * in_.F, real(0));
    for (std::size_t i = 0; i < rows_; ++i)
      std::fill_n(to.weights + token(i) * in_.L, in_.L, real(0));
    each_set_bit(chunk, [&](std::size_t level, const real* sums) {
      read_level(level, sums);
      for (std::size_t i = 0; i < rows_; ++i)
        to.weights[weight_at(i, level)] +=
            since_[i] * dot_row(read_ + i * in_.d, g_ + i * in_.d, in_.d);
      std::fill_n(read_, rows_ * in_.d, real(0));
      add_scaled_rows(rows_, in_.d, factor_, g_, read_);
      gemm(rows_, in_.F, in_.d, {read_, in_.d}, {sums, in_.d, transposed}, 1, dq_, in_.F);
    });
    for (std::size_t i = 0; i < rows_; ++i)
      std::copy_n(dq_ + i * in_.F, in_.F, to.q + token(i) * in_.F);
  }

  /// Sets the gradients of keys and values from queries of later chunks. Here `sums` holds, for
  /// each bit, the queries of the latest block with that bit set, at the end of the chunk; chunks
  /// with the bit clear read them.
  void differentiate_writes(std::size_t chunk) {
    std::fill_n(own_, in_.state(), real(0));
    for (std::size_t bit = 0; bit < in_.levels(); ++bit) {
      if (chunk >> bit & 1) continue;
      for (std::size_t i = 0; i < in_.state(); ++i) own_[i] += sums_[bit * in_.state() + i];
    }
    gemm(rows_, in_.F, in_.d, {v_, in_.d}, {own_, in_.d, transposed}, 0, dk_, in_.F);
    gemm(rows_, in_.d, in_.F, {k_, in_.F}, {own_, in_.d}, 0, dv_, in_.d);
    for (std::size_t i = 0; i < rows_; ++i) {
      for (std::size_t f = 0; f < in_.F; ++f) dk_[i * in_.F + f] *= until_[i];
      for (std::size_t e = 0; e < in_.d; ++e) dv_[i * in_.d + e] *= until_[i];
      passing_[i] = double(dot_row(k_ + i * in_.F, dk_ + i * in_.F, in_.F));
    }
  }

  /// Adds the gradients from pairs of the chunk.
  void differentiate_pairs(const LogLinearGradients& to) {
    const std::size_t n = rows_, d = in_.d, F = in_.F;
    weigh_pairs();
    gemm(n, n, d, {g_, d}, {v_, d, transposed}, 0, slopes_, n);
    for (std::size_t i = 0; i < n; ++i) {
      std::copy_n(to.q + token(i) * F, F, dq_ + i * F);
      for (std::size_t j = 0; j < n; ++j) differentiate_pair(i, j, to);
    }
    gemm(n, F, n, {slopes_, n}, {k_, F}, 1, dq_, F);
    gemm(n, F, n, {slopes_, n, transposed}, {q_, F}, 1, dk_, F);
    gemm(n, d, n, {pairs_, n, transposed}, {g_, d}, 1, dv_, d);
  }
  /// Turns the slope of a pair's weighed score into that of its score, and its weight into that
  /// score.
  void differentiate_pair(std::size_t i, std::size_t j, const LogLinearGradients& to) {
    real &slope = slopes_[i * rows_ + j], &pair = pairs_[i * rows_ + j];
    if (j > i) {
      slope = 0;
      return;
    }
    const std::size_t at = weight_at(i, level_of_pair(i, j));
    const real score = scores_[i * rows_ + j];
    to.weights[at] += slope * score * decays_[i * rows_ + j];
    slope *= pair;
    pair *= score;
    if (j < i) passing_[j] += double(slope * score);
  }

  /// A rate decays all pairs of an earlier token with the token itself or a later one: what these
  /// read of the past less what they write for the future. `later` is minus that sum beyond the
  /// chunk. What a token reads is the sum of its weights times their gradients.
  void differentiate_rates(double& later, const LogLinearGradients& to) {
    for (std::size_t i = rows_; i-- > 0;) {
      double read = 0;
      for (std::size_t l = 1; l < in_.L; ++l)
        read += double(in_.weights[token(i) * in_.L + l] * to.weights[token(i) * in_.L + l]);
      later += passing_[i] - read;
      if (to.rate)
        to.rate[token(i)] = real(later);
      else
        to.sums[b_ * in_.H + h_] += later;
    }
  }

  void store(const LogLinearGradients& to) const {
    for (std::size_t i = 0; i < rows_; ++i) {
      std::copy_n(dq_ + i * in_.F, in_.F, to.q + token(i) * in_.F);
      std::copy_n(dk_ + i * in_.F, in_.F, to.k + token(i) * in_.F);
      std::copy_n(dv_ + i * in_.d, in_.d, to.v + token(i) * in_.d);
    }
  }

  /// Decays the sums of queries to the start of the chunk and adds its own. At the last chunk of a
  /// block with a bit set, where all lower bits are set too, the sum of that bit starts at 0.
  void add_queries(std::size_t chunk) {
    for (std::size_t bit = 0; chunk >> bit & 1; ++bit)
      std::fill_n(sums_ + bit * in_.state(), in_.state(), real(0));
    for (std::size_t bit = 0; bit < in_.levels(); ++bit) fade(sums_ + bit * in_.state());
    each_set_bit(chunk, [&](std::size_t level, real* sums) {
      for (std::size_t i = 0; i < rows_; ++i)
        factor_[i] = in_.weights[weight_at(i, level)] * since_[i];
      std::fill_n(read_, rows_ * in_.d, real(0));
      add_scaled_rows(rows_, in_.d, factor_, g_, read_);
      gemm(in_.F, in_.d, rows_, {q_, in_.F, transposed}, {read_, in_.d}, 1, sums, in_.d);
    });
  }

  real *dq_, *dk_;   // (C, F)
  real *g_, *dv_;    // (C, d)
  real* slopes_;     // (C, C)
  double* passing_;  // (C): derivative by the logarithm of the decay after each token
};

}  // namespace log_linear_parts
}  // namespace bochner::inline BOCHNER_PRECISION
