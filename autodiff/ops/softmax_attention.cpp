#include <array>
#include <bochner/autodiff/compute/arena.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/autodiff/ops/softmax_attention_parts.hpp>
#include <bochner/autodiff/ops/softmax_attention_rates.hpp>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace softmax_parts {
namespace {

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

/// Gradients of q, k and v, and of the rate of each head per sequence, (B, H), or of what is lost
/// up to each token, (B, groups, H, T), in double.
struct AttentionGradients {
  Tensor q, k, v;
  std::vector<double> rate, lost;
};

/// What a task has at hand: one block of queries with gradients of their outputs, packed both ways,
/// and a panel of keys.
struct Workspace {
  real *query_columns, *query_rows;        ///< (d, block), (block, d) with the factor scale()
  real *gradient_columns, *gradient_rows;  ///< (d, block), (block, d)
  real *log_sum, *mean;                    ///< (block)
  real *p, *dp;                            ///< (block, block)
  real* query_gradient;                    ///< (block, d)
  real *keys, *values, *key_gradient, *value_gradient;  ///< (panel block, d)
  real* means;                                          ///< (T)

  Workspace(std::size_t T, std::size_t d, Arena& arena) {
    arena.take(block * d, query_columns, query_rows, gradient_columns, gradient_rows,
               query_gradient);
    arena.take(block, log_sum, mean);
    arena.take(block * block, p, dp);
    arena.take(panel * block * d, keys, values, key_gradient, value_gradient);
    arena.take(T, means);
  }
};

/// Where gradients of one head's queries go: its rows of the result, or a partial sum; and those of
/// what is lost up to its tokens (T), nullptr for none.
struct QueryRows {
  real* data;
  std::size_t stride;
  double* lost;
};

/// Logits become weights p, gradients dp of weights become gradients of logits (in natural units).
void differentiate(std::size_t keys, const Workspace& w) {
  real* __restrict p = w.p;
  real* __restrict dp = w.dp;
  const real *log_sum = w.log_sum, *mean = w.mean;
  for (std::size_t j = 0; j < keys; ++j) {
    for (std::size_t i = 0; i < block; ++i) {
      const real weight = math::exp2_nonpositive(p[j * block + i] - log_sum[i]);
      p[j * block + i] = weight;
      dp[j * block + i] = weight * (dp[j * block + i] - mean[i]);
    }
  }
}

double rate_gradient(const Pair& pair, const real* dp) {
  double total = 0;
  for (std::size_t j = 0; j < pair.keys; ++j) {
    real sum = 0;
    for (std::size_t i = 0; i < pair.rows; ++i)
      sum += dp[j * block + i] * lag(pair.query_block * block + i, pair.key_block * block + j);
    total -= double(sum);
  }
  return total;
}

/// One block of queries against block `index` of the panel. Returns dL/drate.
double pair_backward(const Head& head, const Pair& pair, std::size_t index, double* lost,
                     const Workspace& w) {
  const std::size_t at = index * block * pair.d;
  logits(head, pair, w.keys + at, w.query_columns, w.p);
  pair.multiply(w.values + at, w.gradient_columns, w.dp);
  pair.mask(0, w.dp);
  differentiate(pair.keys, w);
  const real beta = real(pair.query_block > head.first_query_of(pair.key_block));
  pair.sum_queries(w.p, w.gradient_rows, beta, w.value_gradient + at);
  pair.sum_queries(w.dp, w.query_rows, beta, w.key_gradient + at);
  pair.sum_keys(w.dp, w.keys + at, real(index > 0), w.query_gradient);
  if (lost) add_lost_gradient(pair, w.dp, lost);
  return head.a.rate ? rate_gradient(pair, w.dp) : 0;
}

void pack_queries(const Head& head, std::size_t query_block, const real* g, const real* log_sum,
                  const Workspace& w) {
  const Attention& a = head.a;
  const std::size_t at = head.offset(query_block), rows = head.rows(query_block);
  pack_columns(a.q + at, a.stride(), rows, a.d, w.query_columns);
  pack_columns(g + at, a.stride(), rows, a.d, w.gradient_columns);
  pack_rows(a.q + at, a.stride(), rows, a.d, a.scale(), w.query_rows);
  pack_rows(g + at, a.stride(), rows, a.d, 1, w.gradient_rows);
  for (real* row : {w.log_sum, w.mean}) std::fill_n(row + rows, block - rows, real(0));
  std::copy_n(log_sum + query_block * block, rows, w.log_sum);
  std::copy_n(w.means + query_block * block, rows, w.mean);
}

/// A panel of keys walks along the queries that see it.
double panel_backward(const Head& head, std::size_t first, const real* g, const real* log_sum,
                      bool assign, const QueryRows& dq, AttentionGradients& out,
                      const Workspace& w) {
  const Attention& a = head.a;
  const std::size_t d = a.d, last = std::min(head.blocks(), first + panel);
  for (std::size_t j = first; j < last; ++j) {
    const std::size_t at = (j - first) * block * d;
    pack_rows(a.k + head.offset(j), a.stride(), head.rows(j), d, a.logit_factor(), w.keys + at);
    pack_rows(a.v + head.offset(j), a.stride(), head.rows(j), d, 1, w.values + at);
  }
  double rate = 0;
  for (std::size_t i = head.first_query_of(first); i < head.blocks(); ++i) {
    pack_queries(head, i, g, log_sum, w);
    for (std::size_t j = first; j < std::min(last, head.keys_of(i)); ++j)
      rate += pair_backward(head, Pair(head, i, j), j - first, dq.lost, w);
    for (std::size_t row = 0; row < head.rows(i); ++row) {
      real* to = dq.data + (i * block + row) * dq.stride;
      for (std::size_t e = 0; e < d; ++e) {
        const real term = real(std::numbers::ln2) * w.query_gradient[row * d + e];
        to[e] = assign ? term : to[e] + term;
      }
    }
  }
  for (std::size_t j = first; j < last; ++j) {
    for (std::size_t row = 0; row < head.rows(j); ++row) {
      const std::size_t from = ((j - first) * block + row) * d;
      const std::size_t to = head.offset(j) + row * a.stride();
      std::copy_n(w.key_gradient + from, d, out.k.data() + to);
      std::copy_n(w.value_gradient + from, d, out.v.data() + to);
    }
  }
  return rate;
}

/// y . g of each query: the mean gradient of its weights.
void output_means(const Head& head, const real* y, const real* g, const Workspace& w) {
  const std::size_t d = head.a.d;
  for (std::size_t i = 0; i < head.blocks(); ++i) {
    pack_columns(y + head.offset(i), head.a.stride(), head.rows(i), d, w.query_columns);
    pack_columns(g + head.offset(i), head.a.stride(), head.rows(i), d, w.gradient_columns);
    real mean[block] = {};
    for (std::size_t e = 0; e < d; ++e) {
      for (std::size_t row = 0; row < block; ++row)
        mean[row] += w.query_columns[e * block + row] * w.gradient_columns[e * block + row];
    }
    std::copy_n(mean, head.rows(i), w.means + i * block);
  }
}

/// Every `groups`-th panel of keys of one head, from number `group` on. Returns dL/drate.
double group_backward(const Head& head, std::size_t group, std::size_t groups, const real* y,
                      const real* g, const real* log_sum, const QueryRows& dq,
                      AttentionGradients& out, const Workspace& w) {
  const Attention& a = head.a;
  const std::size_t first = group * panel;
  output_means(head, y, g, w);
  const std::size_t seen_from =
      first < head.blocks() ? head.first_query_of(first) * block : a.length(head.b);
  for (std::size_t t = 0; t < seen_from; ++t) std::fill_n(dq.data + t * dq.stride, a.d, real(0));
  double rate = 0;
  for (std::size_t j = first; j < head.blocks(); j += groups * panel)
    rate += panel_backward(head, j, g, log_sum, j == first, dq, out, w);
  return rate;
}

/// dq = the partial sums of the groups, (B, groups, H, T, d), in order.
void join(const Attention& a, std::size_t groups, const real* partial, real* dq) {
  const std::size_t task = a.T * a.d;
  parallel_rows(a.B * a.T, groups * a.stride(), [=](std::size_t row) {
    const std::size_t b = row / a.T, t = row % a.T;
    if (t >= a.length(b)) return;
    for (std::size_t h = 0; h < a.H; ++h) {
      const real* from = partial + (b * groups * a.H + h) * task + t * a.d;
      real* to = dq + (row * a.H + h) * a.d;
      std::copy_n(from, a.d, to);
      for (std::size_t group = 1; group < groups; ++group) {
        from += a.H * task;
        for (std::size_t e = 0; e < a.d; ++e) to[e] += from[e];
      }
    }
  });
}

/// Fills in the gradients, of tokens that exist, from those of the output y; `log_sum` (B, H, T) is
/// what the forward pass kept.
void backward(const Attention& a, const real* y, const real* g, const real* log_sum,
              AttentionGradients& out) {
  const std::size_t heads = a.B * a.H;
  const std::size_t groups = std::min(a.panels(), (7 + heads) / heads);
  Storage partial(groups > 1 ? heads * groups * a.T * a.d : 0);
  Scratch<real> scratch(scratch_size<Workspace>(a.T, a.d));
  out.rate.resize(heads * groups);
  out.lost.resize(a.lost ? heads * groups * a.T : 0);
  parallel_tasks(heads * groups, [&](std::size_t task) {
    const std::size_t h = task % a.H, group = task / a.H % groups, b = task / (a.H * groups);
    const Head head{a, b, h};
    double* lost = a.lost ? out.lost.data() + task * a.T : nullptr;
    const QueryRows dq = groups > 1 ? QueryRows{partial.data() + task * a.T * a.d, a.d, lost}
                                    : QueryRows{out.q.data() + head.offset(0), a.stride(), lost};
    Arena arena(scratch.local());
    out.rate[task] = group_backward(head, group, groups, y, g, log_sum + (b * a.H + h) * a.T, dq,
                                    out, Workspace(a.T, a.d, arena));
  });
  if (groups > 1) join(a, groups, partial.data(), out.q.data());
}

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
  const bool by_token = rate.exists() && rate.rank() == 3;
  const auto attention = [=](const std::vector<double>& lost) {
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
                                    by_token ? lost.data() : nullptr};
  };
  const auto lost_of = [=] {
    return by_token ? softmax_parts::sums_of_rates(rate) : std::vector<double>();
  };
  const std::vector<double> lost = lost_of();
  const auto a = attention(lost);
  Tensor y = lengths.empty() ? uninitialized(q.shape()) : zeros(q.shape());
  Tensor log_sum = uninitialized({a.B, a.H, a.T});
  if (y.size() > 0) softmax_parts::forward(a, y.data(), log_sum.data());
  return record("softmax_attention", std::move(y), {q, k, v, rate},
                [=, log_sum = std::move(log_sum)](const Tensor& y, Tensor& g) {
                  if (g.size() == 0) return;
                  softmax_parts::AttentionGradients gradients;
                  for (Tensor* gradient : {&gradients.q, &gradients.k, &gradients.v})
                    *gradient = lengths.empty() ? uninitialized(q.shape()) : zeros(q.shape());
                  const std::vector<double> lost = lost_of();
                  const auto a = attention(lost);
                  softmax_parts::backward(a, y.data(), g.data(), log_sum.data(), gradients);
                  q.add_gradient(std::move(gradients.q));
                  k.add_gradient(std::move(gradients.k));
                  v.add_gradient(std::move(gradients.v));
                  if (!rate.needs_gradient()) return;
                  rate.add_gradient(by_token ? softmax_parts::token_rates(a, gradients.lost)
                                             : sum_repeats(gradients.rate, rate.shape()));
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
