#pragma once
/// Internals of dplr_delta_rule(): one head of one sequence, chunk by chunk.

#include <bochner/autodiff/compute/arena.hpp>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/tape.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/product_precision.hpp>
#include <bochner/base/processor/prefetch.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {
namespace dplr_parts {

/// The inputs, their data or their gradients.
template <class Each>
struct DplrTensors {
  Each q, k, v, a, b, rate;
};

struct DplrInputs {
  std::size_t B, T, H, F, d, C;
  DplrTensors<const real*> x;
  const std::vector<std::size_t>& lengths;
  bool reverse;
  std::size_t chunks() const { return ceil_div(T, C); }
  std::size_t state() const { return F * d; }
};

/// Computes to += factor from, (n).
inline void add_row(real factor, const real* __restrict from, std::size_t n, real* __restrict to) {
  for (std::size_t e = 0; e < n; ++e) to[e] += factor * from[e];
}

/// Computes y = before exp(-rate), (n).
inline void decay_row(std::size_t n, const real* __restrict rate, const real* __restrict before,
                      real* __restrict y) {
  for (std::size_t f = 0; f < n; ++f) y[f] = math::exp(-rate[f]);
  for (std::size_t f = 0; f < n; ++f) y[f] *= before[f];
}
inline void multiply_row(std::size_t n, const real* __restrict x, const real* __restrict factor,
                         real* __restrict y) {
  for (std::size_t f = 0; f < n; ++f) y[f] = x[f] * factor[f];
}
inline void divide_row(std::size_t n, const real* __restrict x, const real* __restrict divisor,
                       real* __restrict y) {
  for (std::size_t f = 0; f < n; ++f) y[f] = x[f] / divisor[f];
}
/// Computes sum += sign x y, (n).
inline void add_products(std::size_t n, real sign, const real* __restrict x,
                         const real* __restrict y, double* __restrict sum) {
  for (std::size_t f = 0; f < n; ++f) sum[f] += double(sign * x[f] * y[f]);
}

/// Forward pass of a head. With the product P_i of the decays of a chunk up to token i, its tokens
/// read by the rows a_i P_(i-1) and q_i P_i and write by the rows b_j / P_j and k_j / P_j. What the
/// rows a_i read, x_i, solves a triangular system; b_j writes x_j and k_j writes v_j.
class DplrHead {
 public:
  DplrHead(const DplrInputs& in, std::size_t index, Arena& arena)
      : in_(in), b_(index / in.H), h_(index % in.H), length_(length_of(in.lengths, b_, in.T)) {
    arena.take((in.C + 1) * in.F, passed_);
    arena.take(2 * in.C * in.F, reads_, writes_);
    arena.take(4 * in.C * in.C, scores_);
    arena.take(2 * in.C * in.d, written_, seen_);
    arena.take(in.state(), state_);
    if (passed_) std::fill_n(passed_, in.F, real(1));
  }

  /// Computes the outputs (B, T, H, d) and, unless null, the state before each chunk (B, H, chunks,
  /// F, d).
  void run(real* states, real* out) {
    std::fill_n(state_, in_.state(), real(0));
    for (std::size_t c = 0; c < chunks(); ++c) {
      if (states) std::copy_n(state_, in_.state(), states + state_offset(c));
      load(c, std::min(c + 1, chunks() - 1));
      solve();
      gemm(rows_, in_.d, 2 * rows_, {query_scores(), 2 * rows_}, {written_, in_.d}, 1,
           seen_ + rows_ * in_.d, in_.d);
      for (std::size_t i = 0; i < rows_; ++i)
        std::copy_n(seen_ + (rows_ + i) * in_.d, in_.d, out + token(i) * in_.d);
      gemm(in_.F, in_.d, 2 * rows_, {writes_, in_.F, transposed}, {written_, in_.d}, 1, state_,
           in_.d);
      fade(state_);
    }
  }

 protected:
  std::size_t chunks() const { return ceil_div(length_, in_.C); }
  std::size_t state_offset(std::size_t chunk) const {
    return ((b_ * in_.H + h_) * in_.chunks() + chunk) * in_.state();
  }
  /// Returns the index of token i of the chunk in (B, T, H).
  std::size_t token(std::size_t i) const { return token_at(first_ + i); }
  std::size_t token_at(std::size_t n) const {
    const std::size_t t = in_.reverse ? length_ - 1 - n : n;
    return (b_ * in_.T + t) * in_.H + h_;
  }
  const real* query_scores() const { return scores_ + 2 * rows_ * rows_; }
  /// Multiplies rows of a state (F, d) by the decay of the whole chunk.
  void fade(real* state) const {
    const real* all = passed_ + rows_ * in_.F;
    for (std::size_t f = 0; f < in_.F; ++f)
      for (std::size_t e = 0; e < in_.d; ++e) state[f * in_.d + e] *= all[f];
  }

  /// Loads the rows of a chunk and their scores, and prefetches the rows of the `next` one.
  void load(std::size_t chunk, std::size_t next) {
    first_ = chunk * in_.C, rows_ = std::min(in_.C, length_ - first_);
    for (std::size_t i = 0; i < rows_; ++i) {
      if (const std::size_t n = next * in_.C + i; next != chunk && n < length_)
        prefetch_row(token_at(n));
      load_row(i, token(i) * in_.F);
      std::copy_n(in_.x.v + token(i) * in_.d, in_.d, written_ + (rows_ + i) * in_.d);
    }
    gemm(2 * rows_, 2 * rows_, in_.F, {reads_, in_.F}, {writes_, in_.F, transposed}, 0, scores_,
         2 * rows_);
    mask(scores_);
  }
  /// Computes what the rows a and q read of the past state, and all that is written.
  void solve() {
    const std::size_t d = in_.d, n = 2 * rows_;
    gemm(n, d, in_.F, {reads_, in_.F}, {state_, d}, 0, seen_, d);
    gemm(rows_, d, rows_, {scores_ + rows_, n}, {written_ + rows_ * d, d}, 1, seen_, d);
    for (std::size_t i = 0; i < rows_; ++i) {
      real* x = written_ + i * d;
      std::copy_n(seen_ + i * d, d, x);
      for (std::size_t j = 0; j < i; ++j) add_row(scores_[i * n + j], written_ + j * d, d, x);
    }
  }
  /// Zeroes the pairs of a token with later ones and, for the rows a, with itself.
  void mask(real* pairs) const {
    const std::size_t n = 2 * rows_;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t first = i < rows_ ? i : i - rows_ + 1;
      for (std::size_t half : {std::size_t(0), rows_})
        std::fill(pairs + i * n + half + first, pairs + i * n + half + rows_, real(0));
    }
  }

  const DplrInputs& in_;
  std::size_t b_, h_, length_, first_ = 0, rows_ = 0;
  real* passed_;   // (C + 1, F): P, after a row of ones
  real* reads_;    // (2 C, F): of a, of q
  real* writes_;   // (2 C, F): of b, of k
  real* scores_;   // (2 C, 2 C): reads by writes
  real* written_;  // (2 C, d): x, v
  real* seen_;     // (2 C, d)
  real* state_;    // (F, d)

 private:
  void prefetch_row(std::size_t token) const {
    for (const real* x : {in_.x.q, in_.x.k, in_.x.a, in_.x.b, in_.x.rate})
      prefetch(x + token * in_.F, in_.F);
    prefetch(in_.x.v + token * in_.d, in_.d);
  }
  void load_row(std::size_t i, std::size_t from) {
    const std::size_t F = in_.F, row = i * F, second = (rows_ + i) * F;
    real* passed = passed_ + row + F;
    decay_row(F, in_.x.rate + from, passed_ + row, passed);
    multiply_row(F, in_.x.a + from, passed_ + row, reads_ + row);
    multiply_row(F, in_.x.q + from, passed, reads_ + second);
    divide_row(F, in_.x.b + from, passed, writes_ + row);
    divide_row(F, in_.x.k + from, passed, writes_ + second);
  }
};

/// Backward pass of a head, from its last chunk to its first.
class DplrHeadBack : DplrHead {
 public:
  DplrHeadBack(const DplrInputs& in, std::size_t index, Arena& arena) : DplrHead(in, index, arena) {
    arena.take(in.F, passing_);
    arena.take(2 * in.C * in.F, read_slopes_, write_slopes_);
    arena.take(4 * in.C * in.C, slopes_);
    arena.take(2 * in.C * in.d, readings_, changes_);
    arena.take(in.state(), later_);
  }

  void run(const real* states, const real* g, const DplrTensors<real*>& to) {
    std::fill_n(later_, in_.state(), real(0));
    for (std::size_t c = chunks(); c-- > 0;) {
      start_passing(c + 1 < chunks() ? states + state_offset(c + 1) : nullptr);
      std::copy_n(states + state_offset(c), in_.state(), state_);
      load(c, std::max<std::size_t>(c, 1) - 1);
      solve();
      differentiate_written(g);
      for (std::size_t i = 0; i < rows_; ++i)
        std::copy_n(changes_ + (rows_ + i) * in_.d, in_.d, to.v + token(i) * in_.d);
      differentiate_rows();
      store(to);
    }
  }

 private:
  /// Sets the derivative by the logarithms of the decays up to the end of the chunk through the
  /// `next` state.
  void start_passing(const real* next) {
    for (std::size_t f = 0; f < in_.F; ++f)
      passing_[f] = next ? double(dot_row(later_ + f * in_.d, next + f * in_.d, in_.d)) : 0.0;
  }

  /// Sets `readings` to the gradients of what the rows a and q read, and the second half of
  /// `changes` to those of values.
  void differentiate_written(const real* g) {
    const std::size_t d = in_.d, n = 2 * rows_;
    for (std::size_t i = 0; i < rows_; ++i)
      std::copy_n(g + token(i) * d, d, readings_ + (rows_ + i) * d);
    fade(later_);
    gemm(n, d, in_.F, {writes_, in_.F}, {later_, d}, 0, changes_, d);
    gemm(n, d, rows_, {query_scores(), n, transposed}, {readings_ + rows_ * d, d}, 1, changes_, d);
    for (std::size_t i = rows_; i-- > 0;) {
      const real* x = changes_ + i * d;
      for (std::size_t j = 0; j < i; ++j) add_row(scores_[i * n + j], x, d, changes_ + j * d);
    }
    std::copy_n(changes_, rows_ * d, readings_);
    gemm(rows_, d, rows_, {scores_ + rows_, n, transposed}, {readings_, d}, 1, changes_ + rows_ * d,
         d);
  }

  /// Computes the gradients of the rows that read and write, and of the state before the chunk.
  void differentiate_rows() {
    const std::size_t d = in_.d, F = in_.F, n = 2 * rows_;
    gemm(n, n, d, {readings_, d}, {written_, d, transposed}, 0, slopes_, n);
    mask(slopes_);
    gemm(n, F, d, {readings_, d}, {state_, d, transposed}, 0, read_slopes_, F);
    gemm(n, F, n, {slopes_, n}, {writes_, F}, 1, read_slopes_, F);
    gemm(n, F, d, {written_, d}, {later_, d, transposed}, 0, write_slopes_, F);
    gemm(n, F, n, {slopes_, n, transposed}, {reads_, F}, 1, write_slopes_, F);
    gemm(F, d, n, {reads_, F, transposed}, {readings_, d}, 1, later_, d);
  }

  /// Stores the gradients of q, k, a, b and of rates.
  void store(const DplrTensors<real*>& to) {
    for (std::size_t i = rows_; i-- > 0;) {
      const std::size_t out = token(i) * in_.F;
      store_row(i, {to.q + out, to.k + out, nullptr, to.a + out, to.b + out, to.rate + out});
    }
  }
  /// Stores those of a token. The derivative by its rate is minus the sum of those by ln P_i from
  /// the token on, where the row a_i depends on P_(i-1).
  void store_row(std::size_t i, const DplrTensors<real*>& to) {
    const std::size_t F = in_.F, row = i * F, second = (rows_ + i) * F;
    const real *before = passed_ + row, *passed = before + F;
    add_products(F, 1, reads_ + second, read_slopes_ + second, passing_);
    add_products(F, -1, writes_ + row, write_slopes_ + row, passing_);
    add_products(F, -1, writes_ + second, write_slopes_ + second, passing_);
    for (std::size_t f = 0; f < F; ++f) to.rate[f] = real(-passing_[f]);
    add_products(F, 1, reads_ + row, read_slopes_ + row, passing_);
    multiply_row(F, read_slopes_ + row, before, to.a);
    multiply_row(F, read_slopes_ + second, passed, to.q);
    divide_row(F, write_slopes_ + row, passed, to.b);
    divide_row(F, write_slopes_ + second, passed, to.k);
  }

  double* passing_;                    // (F)
  real *read_slopes_, *write_slopes_;  // (2 C, F)
  real* slopes_;                       // (2 C, 2 C)
  real *readings_, *changes_;          // (2 C, d)
  real* later_;                        // (F, d): gradient of the state
};

}  // namespace dplr_parts
}  // namespace bochner::inline BOCHNER_PRECISION
