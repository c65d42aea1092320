#include <array>
#include <bochner/autodiff/compute/arena.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/autodiff/ops/softmax_attention_parts.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using namespace softmax_parts;

/// One block of queries under way: what it has seen of the keys (online softmax).
struct Queries {
  real* packed;  ///< (d, block)
  real* sum;     ///< (block, d) of weighted values
  real* top;     ///< (block) largest logit
  real* total;   ///< (block) of weights
};

/// What a task has at hand: a block of keys, its logits, and the queries of a panel.
struct Panel {
  real *keys, *values;  ///< (block, d)
  real* s;              ///< (block + 1, block), see attend()
  std::array<Queries, panel> queries;

  Panel(std::size_t d, Arena& arena) {
    arena.take(block * d, keys, values);
    arena.take((block + 1) * block, s);
    for (Queries& each : queries) {
      arena.take(block * d, each.packed, each.sum);
      arena.take(block, each.top, each.total);
    }
  }
};

/// Logits s (keys, block) become weights relative to the new largest logit; `keep` (block) is what
/// the change of it makes of earlier sums.
void weigh(real* __restrict s, std::size_t keys, real* __restrict top, real* __restrict total,
           real* __restrict keep) {
  real highest[block], sum[block] = {};
  std::copy_n(top, block, highest);
  for (std::size_t j = 0; j < keys; ++j) {
    for (std::size_t i = 0; i < block; ++i)
      highest[i] = s[j * block + i] > highest[i] ? s[j * block + i] : highest[i];
  }
  for (std::size_t j = 0; j < keys; ++j) {
    for (std::size_t i = 0; i < block; ++i) {
      const real weight = math::exp2_nonpositive(s[j * block + i] - highest[i]);
      s[j * block + i] = weight;
      sum[i] += weight;
    }
  }
  for (std::size_t i = 0; i < block; ++i) {
    keep[i] = math::exp2_nonpositive(top[i] - highest[i]);
    total[i] = total[i] * keep[i] + sum[i];
    top[i] = highest[i];
  }
}

void start(const Head& head, std::size_t query_block, const Queries& queries) {
  const Attention& a = head.a;
  pack_columns(a.q + head.offset(query_block), a.stride(), head.rows(query_block), a.d,
               queries.packed);
  std::fill_n(queries.top, block, -std::numeric_limits<real>::infinity());
  std::fill_n(queries.total, block, real(0));
}

/// Adds one block of packed keys and values; `s` is scratch of (block + 1, block).
void attend(const Head& head, const Pair& pair, const real* keys, const real* values,
            const Queries& queries, real* s) {
  real* keep = s + block * block;
  logits(head, pair, keys, queries.packed, s);
  weigh(s, pair.keys, queries.top, queries.total, keep);
  if (pair.key_block > 0) {
    for (std::size_t i = 0; i < pair.rows; ++i) {
      for (std::size_t e = 0; e < pair.d; ++e) queries.sum[i * pair.d + e] *= keep[i];
    }
  }
  pair.sum_keys(s, values, real(pair.key_block > 0), queries.sum);
}

void finish(const Head& head, std::size_t query_block, const Queries& queries, real* out,
            real* log_sum) {
  const std::size_t d = head.a.d;
  real* y = out + head.offset(query_block);
  for (std::size_t i = 0; i < head.rows(query_block); ++i) {
    const real factor = 1 / queries.total[i];
    for (std::size_t e = 0; e < d; ++e)
      y[i * head.a.stride() + e] = factor * queries.sum[i * d + e];
    log_sum[query_block * block + i] = queries.top[i] + log2_e * std::log(queries.total[i]);
  }
}

/// A panel of queries walks along the keys, which are packed once for all its blocks.
void forward_panel(const Head& head, std::size_t first, real* out, real* log_sum,
                   const Panel& work) {
  const Attention& a = head.a;
  const std::size_t last = std::min(head.blocks(), first + panel);
  if (first >= last) return;
  for (std::size_t i = first; i < last; ++i) start(head, i, work.queries[i - first]);
  for (std::size_t j = 0; j < head.keys_of(last - 1); ++j) {
    pack_rows(a.k + head.offset(j), a.stride(), head.rows(j), a.d, a.logit_factor(), work.keys);
    pack_rows(a.v + head.offset(j), a.stride(), head.rows(j), a.d, 1, work.values);
    for (std::size_t i = std::max(first, head.first_query_of(j)); i < last; ++i)
      attend(head, Pair(head, i, j), work.keys, work.values, work.queries[i - first], work.s);
  }
  for (std::size_t i = first; i < last; ++i) finish(head, i, work.queries[i - first], out, log_sum);
}

void forward(const Attention& a, real* out, real* log_sum) {
  Scratch<real> scratch(scratch_size<Panel>(a.d));
  parallel_tasks(a.B * a.H * a.panels(), [&](std::size_t task) {
    const std::size_t index = task / a.panels(), first = task % a.panels() * panel;
    Arena arena(scratch.local());
    forward_panel({a, index / a.H, index % a.H}, first, out, log_sum + index * a.T,
                  Panel(a.d, arena));
  });
}

void require_inputs(const Var& q, const Var& k, const Var& v, const Var& rate,
                    const std::vector<std::size_t>& lengths) {
  const char* op = "softmax_attention";
  require(q.rank() == 4 && q.shape() == k.shape() && q.shape() == v.shape(), op,
          "q, k, v must be (B, T, H, d): q ", q.shape(), ", k ", k.shape(), ", v ", v.shape());
  require(!rate.exists() || rate.shape() == Shape{q.dim(2)}, op, "one rate per head: rate ",
          rate.exists() ? rate.shape() : Shape{}, ", q ", q.shape());
  require(lengths.empty() || lengths.size() == q.dim(0), op, lengths.size(), " lengths for q ",
          q.shape());
  for (std::size_t length : lengths)
    require(length <= q.dim(1), op, "a length of ", length, " for q ", q.shape());
}

}  // namespace

Var softmax_attention(const Var& q, const Var& k, const Var& v, const Var& rate, bool causal,
                      const std::vector<std::size_t>& lengths) {
  require_inputs(q, k, v, rate, lengths);
  const auto attention = [=] {
    return Attention{q.dim(0), q.dim(1),
                     q.dim(2), q.dim(3),
                     q.data(), k.data(),
                     v.data(), rate.exists() ? rate.data() : nullptr,
                     causal,   lengths.empty() ? nullptr : lengths.data()};
  };
  const Attention a = attention();
  Tensor y = lengths.empty() ? uninitialized(q.shape()) : zeros(q.shape());
  Tensor log_sum = uninitialized({a.B, a.H, a.T});
  if (y.size() > 0) forward(a, y.data(), log_sum.data());
  return record("softmax_attention", std::move(y), {q, k, v, rate},
                [=, log_sum = std::move(log_sum)](const Tensor& y, Tensor& g) {
                  if (g.size() == 0) return;
                  AttentionGradients gradients;
                  for (Tensor* gradient : {&gradients.q, &gradients.k, &gradients.v})
                    *gradient = lengths.empty() ? uninitialized(q.shape()) : zeros(q.shape());
                  softmax_attention_backward(attention(), y.data(), g.data(), log_sum.data(),
                                             gradients);
                  q.add_gradient(std::move(gradients.q));
                  k.add_gradient(std::move(gradients.k));
                  v.add_gradient(std::move(gradients.v));
                  if (rate.needs_gradient())
                    rate.add_gradient(sum_repeats(gradients.rate, rate.shape()));
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
