#include <bochner/autodiff/kept.hpp>
#include <bochner/autodiff/ops/attention/attention_by_ops.hpp>
#include <bochner/autodiff/ops/attention/softmax_attention_parts.hpp>
#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace softmax_parts {
namespace {

/// Online softmax state of one block of queries.
struct Queries {
  real* packed;  ///< (d, block)
  real* parts;   ///< the queries as bfloat16 parts for AMX
  real* sum;     ///< (d, block) of weighted values
  real* top;     ///< (block) largest logit
  real* total;   ///< (block) of weights
};

/// Scratch memory of a task: a block of keys, its logits, and a panel of queries.
struct Panel {
  real *keys, *values;  ///< (block, d)
  real* s;              ///< (block + 1, block), see attend()
  real *key_parts, *value_parts, *s_parts;
  std::array<Queries, max_blocks> queries;

  Panel(const Attention& a, Arena& arena) {
    const std::size_t d = a.d;
    arena.take((block + 1) * block, s);
    arena.take(block * d, keys, values);
    take_parts(arena, a, block, d, key_parts);
    take_parts(arena, a, d, block, value_parts);
    take_parts(arena, a, block, block, s_parts);
    for (std::size_t i = 0; i < a.panel(); ++i) {
      take_parts(arena, a, block, d, queries[i].parts);
      arena.take(block * d, queries[i].packed, queries[i].sum);
      arena.take(block, queries[i].top, queries[i].total);
    }
  }
};

/// Turns logits s (keys, block) into weights relative to the new largest logit; `keep` (block)
/// receives the factors that rescale earlier sums.
void weigh(real* __restrict s, std::size_t keys, real* __restrict top, real* __restrict total,
           real* __restrict keep, const RowPrefetch& ahead) {
  real highest[block], sum[block] = {};
  std::copy_n(top, block, highest);
  for (std::size_t j = 0; j < keys; ++j) {
    for (std::size_t i = 0; i < block; ++i)
      highest[i] = s[j * block + i] > highest[i] ? s[j * block + i] : highest[i];
  }
  for (std::size_t j = 0; j < keys; ++j) {
    ahead.ask(j);
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
  Factor{{queries.packed, block}, queries.parts}.pack_right(block, a.d);
  std::fill_n(queries.top, block, -std::numeric_limits<real>::infinity());
  std::fill_n(queries.total, block, real(0));
}

/// Adds one block of packed keys and values; `s` has one row more than keys.
void attend(const Head& head, const Pair& pair, const Queries& queries, const RowPrefetch& ahead,
            const Panel& work) {
  real *s = work.s, *keep = s + block * block;
  logits(head, pair, {{work.keys, pair.d}, work.key_parts},
         {{queries.packed, block}, queries.parts}, s);
  weigh(s, pair.keys, queries.top, queries.total, keep, ahead);
  for (std::size_t e = 0; pair.key_block > 0 && e < pair.d; ++e) {
    real* __restrict sum = queries.sum + e * block;
    for (std::size_t i = 0; i < block; ++i) sum[i] *= keep[i];
  }
  const Factor weights{{s, block}, work.s_parts};
  pair.sum_keys({{work.values, pair.d}, work.value_parts}, weights.pack_right(block, pair.keys),
                real(pair.key_block > 0), queries.sum);
}

void finish(const Head& head, std::size_t query_block, const Queries& queries, real* out,
            real* log_sum) {
  real factor[block];
  for (std::size_t i = 0; i < block; ++i) factor[i] = 1 / queries.total[i];
  for (std::size_t e = 0; e < head.a.d; ++e) {
    for (std::size_t i = 0; i < block; ++i) queries.sum[e * block + i] *= factor[i];
  }
  const std::size_t rows = head.rows(query_block);
  transpose_matrix(head.a.d, rows, queries.sum, block, out + head.offset(query_block),
                   head.a.stride());
  for (std::size_t i = 0; i < rows; ++i)
    log_sum[query_block * block + i] = queries.top[i] + log2_e * std::log(queries.total[i]);
}

RowPrefetch keys_ahead(const Head& head, std::size_t key_block, std::size_t blocks) {
  const Attention& a = head.a;
  if (key_block >= blocks) return {0, a.d};
  RowPrefetch ahead(head.rows(key_block), a.d);
  for (const real* x : {a.k, a.v}) ahead.add(x + head.offset(key_block), a.stride());
  return ahead;
}

/// Iterates a panel of queries over the keys, which are packed once for all its blocks.
void forward_panel(const Head& head, std::size_t first, real* out, real* log_sum,
                   const Panel& work) {
  const Attention& a = head.a;
  const std::size_t last = std::min(head.blocks(), first + a.panel());
  if (first >= last) return;
  const AmxSession in_use(a.in_amx());
  for (std::size_t i = first; i < last; ++i) start(head, i, work.queries[i - first]);
  const std::size_t key_blocks = head.keys_of(last - 1);
  for (std::size_t j = 0; j < key_blocks; ++j) {
    pack_rows(a.k + head.offset(j), a.stride(), head.rows(j), a.d, a.logit_factor(), work.keys);
    pack_rows(a.v + head.offset(j), a.stride(), head.rows(j), a.d, 1, work.values);
    Factor{{work.keys, a.d}, work.key_parts}.pack_left(head.rows(j), a.d);
    Factor{{work.values, a.d, transposed}, work.value_parts}.pack_left(a.d, head.rows(j));
    const RowPrefetch ahead = keys_ahead(head, j + 1, key_blocks);
    const std::size_t seen_from = std::max(first, head.first_query_of(j));
    for (std::size_t i = seen_from; i < last; ++i)
      attend(head, Pair(head, i, j), work.queries[i - first],
             ahead.of_pair(i - seen_from, last - seen_from), work);
  }
  for (std::size_t i = first; i < last; ++i) finish(head, i, work.queries[i - first], out, log_sum);
}

}  // namespace

void forward(const Attention& a, real* out, real* log_sum) {
  Scratch<real> scratch(scratch_size<Panel>(a));
  parallel_tasks(a.B * a.H * a.panels(), [&](std::size_t task) {
    const std::size_t index = task / a.panels(), first = task % a.panels() * a.panel();
    Arena arena(scratch.local());
    forward_panel({a, index / a.H, index % a.H}, first, out, log_sum + index * a.T,
                  Panel(a, arena));
  });
}

namespace {

void require_inputs(const Var& q, const Var& k, const Var& v, const Var& rate,
                    const std::vector<std::size_t>& lengths) {
  const char* op = "softmax_attention";
  require(q.rank() == 4 && q.shape() == k.shape() && q.shape() == v.shape(), op,
          "q, k, v must be (B, T, H, d): q ", q.shape(), ", k ", k.shape(), ", v ", v.shape());
  require(!rate.exists() || rate.shape() == Shape{q.dim(2)} ||
              rate.shape() == Shape{q.dim(0), q.dim(1), q.dim(2)},
          op, "one rate per head: rate ", rate.exists() ? rate.shape() : Shape{}, ", q ",
          q.shape());
  require_lengths(op, lengths, q.shape(), "q");
}

}  // namespace
}  // namespace softmax_parts

Var softmax_attention(const Var& q, const Var& k, const Var& v, const Var& rate, bool causal,
                      const std::vector<std::size_t>& lengths) {
  softmax_parts::require_inputs(q, k, v, rate, lengths);
  if (has_tangents(q, k, v, rate)) return softmax_attention_by_ops(q, k, v, rate, causal, lengths);
  const bool by_token = rate.exists() && rate.rank() == 3;
  const auto attention = [=](const Var& q, const Var& k, const Var& v,
                             const std::vector<double>& penalty) {
    return softmax_parts::Attention{q.dim(0),
                                    q.dim(1),
                                    q.dim(2),
                                    q.dim(3),
                                    q.data(),
                                    k.data(),
                                    v.data(),
                                    rate.exists() && !by_token ? rate.data() : nullptr,
                                    causal,
                                    lengths.empty() ? nullptr : lengths.data(),
                                    by_token ? penalty.data() : nullptr};
  };
  const auto penalty_of = [=] {
    return by_token ? softmax_parts::sums_of_rates(rate) : std::vector<double>();
  };
  const std::vector<double> penalty = penalty_of();
  const auto a = attention(q, k, v, penalty);
  Tensor y = unwritten(q.shape(), lengths.empty());
  Tensor log_sum = uninitialized({a.B, a.H, a.T});
  if (y.size() > 0) softmax_parts::forward(a, y.data(), log_sum.data());
  return record("softmax_attention", std::move(y), {q, k, v, rate},
                [=, kept_q = Kept(q), kept_k = Kept(k), kept_v = Kept(v),
                 log_sum = std::move(log_sum)](const Tensor& y, Tensor& g) {
                  if (g.size() == 0) return;
                  const Var q = kept_q(), k = kept_k(), v = kept_v();
                  softmax_parts::AttentionGradients gradients;
                  for (Tensor* gradient : {&gradients.q, &gradients.k, &gradients.v})
                    *gradient = unwritten(q.shape(), lengths.empty());
                  const std::vector<double> penalty = penalty_of();
                  const auto a = attention(q, k, v, penalty);
                  softmax_parts::backward(a, y.data(), g.data(), log_sum.data(), gradients);
                  q.add_gradient(std::move(gradients.q));
                  k.add_gradient(std::move(gradients.k));
                  v.add_gradient(std::move(gradients.v));
                  if (!rate.needs_gradient()) return;
                  rate.add_gradient(by_token ? softmax_parts::token_rates(a, gradients.penalty)
                                             : sum_repeats(gradients.rate, rate.shape()));
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
