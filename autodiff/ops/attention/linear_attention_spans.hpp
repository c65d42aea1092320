#pragma once
/// Shared by both passes of causal attention. A long sequence with few heads is split into spans, a
/// function of the sizes only: each span sums its keys from zero, and the state before it is added
/// where it is read. If threads outnumber heads, groups of spans run concurrently after the spans
/// were summed; the sums are the same.

#include <bochner/autodiff/compute/lanes.hpp>
#include <bochner/autodiff/ops/attention/linear_attention_parts.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_parts {

/// Turns row i of `products` into weight_j (product_ij + offset) for j <= i and 0 beyond.
inline void weigh_row(std::size_t i, std::size_t rows, const real* weight, real offset,
                      real* products) {
  constexpr std::size_t lanes = native_lane_count;
  std::size_t j = 0;
  for (; j + lanes <= rows; j += lanes) {
    const NativeLanes weighed = lanes_at(weight + j) * (lanes_at(products + j) + offset);
    lanes_at(products + j) = lane_numbers() <= int(i) - int(j) ? weighed : NativeLanes{};
  }
  for (; j < rows; ++j) products[j] = j <= i ? weight[j] * (products[j] + offset) : real(0);
}

/// Products of a chunk with a lower triangular (rows, rows) matrix, ld apart. Only the second half
/// of the queries sees the second half of the keys; the rest is neither computed nor read.
struct Triangle {
  std::size_t rows, cut, ld;
  Triangle(const Sizes& n, std::size_t rows)
      : rows(rows), cut(std::min(rows, ceil_div(n.C, 2))), ld(n.C) {}

  /// Computes s = a b^T for a, b (rows, K). Halving a single vector would cost time.
  void multiply(std::size_t K, const Operand& a, const Operand& b, real* s) const {
    if (cut < 2 * native_lane_count)
      return gemm(rows, rows, K, a, {b.data, b.ld, transposed}, 0, s, ld);
    gemm(rows, cut, K, a, {b.data, b.ld, transposed}, 0, s, ld);
    const std::size_t at = cut * ld + cut;
    gemm(rows - cut, rows - cut, K, {a.data + cut * a.ld, a.ld},
         {b.data + cut * b.ld, b.ld, transposed}, 0, s + at, ld);
  }
  /// Computes c (rows, N) = s b + beta c, sums over the keys of each query.
  void sum_keys(std::size_t N, const real* s, const Operand& b, real beta, real* c,
                std::size_t ldc) const {
    gemm(cut, N, cut, {s, ld}, b, beta, c, ldc);
    gemm(rows - cut, N, rows, {s + cut * ld, ld}, b, beta, c + cut * ldc, ldc);
  }
  /// Computes c (rows, N) = s^T b + beta c, sums over the queries of each key.
  void sum_queries(std::size_t N, const real* s, const Operand& b, real beta, real* c,
                   std::size_t ldc) const {
    gemm(cut, N, rows, {s, ld, transposed}, b, beta, c, ldc);
    gemm(rows - cut, N, rows - cut, {s + cut * ld + cut, ld, transposed},
         {b.data + cut * b.ld, b.ld}, beta, c + cut * ldc, ldc);
  }
};

struct Chunk {
  Keys keys;
  real* state;

  Chunk(const Sizes& n, Arena& arena) : keys(n, arena) { arena.take(n.state(), state); }
};

/// Consecutive spans of one head per task.
struct SpanGroups {
  std::size_t spans, count;
  explicit SpanGroups(const Sizes& n) : spans(n.spans()), count(1) {
    const std::size_t heads = std::max<std::size_t>(1, n.B * n.H);
    count = std::clamp<std::size_t>(ceil_div(thread_count(), heads), 1, spans);
  }
  std::size_t first(std::size_t group) const { return group * spans / count; }
};

/// Runs `task(heads, first span, end)` for every group of all heads, in parallel.
template <class Head, class Task>
void for_each_group(const Attention& in, Memory& memory, const Task& task) {
  const SpanGroups groups(in.n);
  for_each_part<Head>(in, memory, groups.count, [&](Heads<Head>& heads, std::size_t group) {
    task(heads, groups.first(group), groups.first(group + 1));
  });
}

/// Sums of the current span, and the state before it.
class Past {
 public:
  Past(const Sizes& n, Arena& arena) : own(n, arena), before_(n, arena), all_(n, arena) {}

  /// Starts a span; `before` is null for the first one.
  void begin(const Sizes& n, const real* before) {
    own.clear(n);
    is_first_ = before == nullptr;
    if (before) before_.restore(n, before);
  }
  double unit_before() const { return is_first_ ? double(nothing) : before_.unit - own.passed; }
  const State& all(const Sizes& n) {
    if (is_first_) return own;
    all_.join(n, own, before_);
    return all_;
  }

  State own;

 private:
  bool is_first_ = true;
  State before_, all_;
};

/// Key sums of the spans of one head.
class CausalHead : protected OneHead {
 public:
  CausalHead(const Attention& in, Memory& memory, std::size_t index, Arena& arena)
      : OneHead(in, memory, index), keys_(n_, arena), past_(n_, arena) {}

  /// Computes the state after a span from that span alone.
  void sum(std::size_t span) {
    if (span + 1 >= spans()) return;
    past_.begin(n_, nullptr);
    for (std::size_t c = span * n_.span; c < (span + 1) * n_.span; ++c) {
      keys_.load(in_, place(c, c + 1), past_.own.unit);
      past_.own.add(n_, keys_);
    }
    past_.own.save(n_, before(span + 1));
  }
  /// Adds the preceding states to spans up to `last`, once their sums exist.
  void join_all(std::size_t last) {
    for (std::size_t span = 1; span < std::min(last, spans() - 1); ++span) join(span);
  }

 protected:
  /// Adds the state before `span` to the state after it.
  void join(std::size_t span) {
    past_.begin(n_, state_before(span));
    past_.own.restore(n_, before(span + 1));
    past_.all(n_).save(n_, before(span + 1));
  }

  Keys keys_;
  Past past_;
};

}  // namespace linear_attention_parts
}  // namespace bochner::inline BOCHNER_PRECISION
