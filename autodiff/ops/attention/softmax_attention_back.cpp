#include <bochner/autodiff/ops/attention/softmax_attention_parts.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace softmax_parts {
namespace {

/// Scratch memory: one block of queries with output gradients, packed both ways, a key panel.
struct Workspace {
  real *query_columns, *query_rows;                     ///< (d, block), (block, d), times scale()
  real *gradient_columns, *gradient_rows;               ///< (d, block), (block, d)
  real *log_sum, *mean;                                 ///< (block)
  real *p, *dp;                                         ///< (block, block)
  real* query_gradient;                                 ///< (d, block)
  real *keys, *values, *key_gradient, *value_gradient;  ///< (blocks of a panel, d)
  real* means;                                          ///< (T)
  real *query_column_parts, *query_row_parts, *gradient_column_parts, *gradient_row_parts;
  real *left_parts, *right_parts;  ///< of p and dp
  std::array<real*, max_blocks> key_parts, key_column_parts, value_parts;

  Workspace(const Attention& a, Arena& arena) {
    const std::size_t d = a.d;
    arena.take(block * block, p, dp);
    take_parts(arena, a, block, block, left_parts, right_parts);
    take_parts(arena, a, block, d, query_column_parts, gradient_column_parts);
    take_parts(arena, a, d, block, query_row_parts, gradient_row_parts);
    for (std::size_t j = 0; j < a.panel(); ++j) {
      take_parts(arena, a, block, d, key_parts[j], value_parts[j]);
      take_parts(arena, a, d, block, key_column_parts[j]);
    }
    arena.take(block * d, query_columns, query_rows, gradient_columns, gradient_rows,
               query_gradient);
    arena.take(block, log_sum, mean);
    arena.take(a.panel() * block * d, keys, values, key_gradient, value_gradient);
    arena.take(a.T, means);
  }
};

/// Forward results and the output gradient; log_sum (T) of this head.
struct Output {
  const real *y, *g, *log_sum;
};

/// Destination of one head's query gradients: rows of the result, or a partial sum; and of the
/// penalty gradients (T), nullptr for none.
struct QueryRows {
  real* data;
  std::size_t stride;
  double* penalty;
};

/// Turns logits into weights p, and weight gradients dp into logit gradients (natural units).
void differentiate(std::size_t keys, const RowPrefetch& ahead, const Workspace& w) {
  real* __restrict p = w.p;
  real* __restrict dp = w.dp;
  const real *log_sum = w.log_sum, *mean = w.mean;
  for (std::size_t j = 0; j < keys; ++j) {
    ahead.ask(j);
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

/// Processes one block of queries with block `index` of the panel. Returns dL/drate.
double pair_backward(const Head& head, const Pair& pair, std::size_t index, double* penalty,
                     const RowPrefetch& ahead, const Workspace& w) {
  const std::size_t d = pair.d, at = index * block * d;
  logits(head, pair, {{w.keys + at, d}, w.key_parts[index]},
         {{w.query_columns, block}, w.query_column_parts}, w.p);
  pair.multiply({{w.values + at, d}, w.value_parts[index]},
                {{w.gradient_columns, block}, w.gradient_column_parts}, w.dp);
  pair.mask(0, w.dp);
  differentiate(pair.keys, ahead, w);
  const real beta = real(pair.query_block > head.first_query_of(pair.key_block));
  const Factor p{{w.p, block}, w.left_parts}, dp{{w.dp, block}, w.left_parts},
      dp_on_the_right{{w.dp, block}, w.right_parts};
  pair.sum_queries(p.pack_left(pair.keys, pair.rows), {{w.gradient_rows, d}, w.gradient_row_parts},
                   beta, w.value_gradient + at);
  pair.sum_queries(dp.pack_left(pair.keys, pair.rows), {{w.query_rows, d}, w.query_row_parts}, beta,
                   w.key_gradient + at);
  pair.sum_keys({{w.keys + at, d}, w.key_column_parts[index]},
                dp_on_the_right.pack_right(block, pair.keys), real(index > 0), w.query_gradient);
  if (penalty) add_penalty_gradient(pair, w.dp, penalty);
  return head.a.rate ? rate_gradient(pair, w.dp) : 0;
}

/// Computes y . g of each query of a packed block: the mean gradient of its weights.
void find_means(const Head& head, std::size_t query_block, const real* y, const Workspace& w) {
  const std::size_t d = head.a.d, rows = head.rows(query_block);
  real *columns = w.query_gradient, mean[block] = {};
  pack_columns(y + head.offset(query_block), head.a.stride(), rows, d, columns);
  for (std::size_t e = 0; e < d; ++e) {
    for (std::size_t row = 0; row < block; ++row)
      mean[row] += columns[e * block + row] * w.gradient_columns[e * block + row];
  }
  std::copy_n(mean, rows, w.means + query_block * block);
}

void pack_queries(const Head& head, std::size_t query_block, const Output& output, bool is_first,
                  const Workspace& w) {
  const Attention& a = head.a;
  const std::size_t at = head.offset(query_block), rows = head.rows(query_block);
  pack_columns(a.q + at, a.stride(), rows, a.d, w.query_columns);
  pack_columns(output.g + at, a.stride(), rows, a.d, w.gradient_columns);
  if (is_first) find_means(head, query_block, output.y, w);
  pack_rows(a.q + at, a.stride(), rows, a.d, a.scale(), w.query_rows);
  pack_rows(output.g + at, a.stride(), rows, a.d, 1, w.gradient_rows);
  Factor{{w.query_columns, block}, w.query_column_parts}.pack_right(block, a.d);
  Factor{{w.gradient_columns, block}, w.gradient_column_parts}.pack_right(block, a.d);
  Factor{{w.query_rows, a.d}, w.query_row_parts}.pack_right(a.d, rows);
  Factor{{w.gradient_rows, a.d}, w.gradient_row_parts}.pack_right(a.d, rows);
  for (real* row : {w.log_sum, w.mean}) std::fill_n(row + rows, block - rows, real(0));
  std::copy_n(output.log_sum + query_block * block, rows, w.log_sum);
  std::copy_n(w.means + query_block * block, rows, w.mean);
}

RowPrefetch queries_ahead(const Head& head, std::size_t query_block, const Output& output,
                          bool is_first, const QueryRows& dq) {
  const Attention& a = head.a;
  if (query_block >= head.blocks()) return {0, a.d};
  RowPrefetch ahead(head.rows(query_block), a.d);
  for (const real* x : {a.q, output.g}) ahead.add(x + head.offset(query_block), a.stride());
  if (is_first) ahead.add(output.y + head.offset(query_block), a.stride());
  ahead.add(dq.data + query_block * block * dq.stride, dq.stride);
  return ahead;
}

/// Adds a key panel's contribution to the query gradients of a block, in natural units.
void add_query_gradient(const Head& head, std::size_t query_block, bool is_first,
                        const QueryRows& dq, const Workspace& w) {
  const std::size_t d = head.a.d, rows = head.rows(query_block);
  transpose_matrix(d, rows, w.query_gradient, block, w.query_rows, d);
  for (std::size_t row = 0; row < rows; ++row) {
    real* __restrict to = dq.data + (query_block * block + row) * dq.stride;
    const real* __restrict from = w.query_rows + row * d;
    for (std::size_t e = 0; e < d; ++e) {
      const real term = real(std::numbers::ln2) * from[e];
      to[e] = is_first ? term : to[e] + term;
    }
  }
}

/// Iterates a key panel over its queries; a group's first panel reaches all queries of the group.
double panel_backward(const Head& head, std::size_t first, const Output& output, bool is_first,
                      const QueryRows& dq, AttentionGradients& out, const Workspace& w) {
  const Attention& a = head.a;
  const std::size_t d = a.d, last = std::min(head.blocks(), first + a.panel());
  for (std::size_t j = first; j < last; ++j) {
    const std::size_t at = (j - first) * block * d;
    pack_rows(a.k + head.offset(j), a.stride(), head.rows(j), d, a.logit_factor(), w.keys + at);
    pack_rows(a.v + head.offset(j), a.stride(), head.rows(j), d, 1, w.values + at);
    Factor{{w.keys + at, d}, w.key_parts[j - first]}.pack_left(head.rows(j), d);
    Factor{{w.values + at, d}, w.value_parts[j - first]}.pack_left(head.rows(j), d);
    Factor{{w.keys + at, d, transposed}, w.key_column_parts[j - first]}.pack_left(d, head.rows(j));
  }
  double rate = 0;
  for (std::size_t i = head.first_query_of(first); i < head.blocks(); ++i) {
    pack_queries(head, i, output, is_first, w);
    const RowPrefetch ahead = queries_ahead(head, i + 1, output, is_first, dq);
    const std::size_t end = std::min(last, head.keys_of(i));
    for (std::size_t j = first; j < end; ++j)
      rate += pair_backward(head, Pair(head, i, j), j - first, dq.penalty,
                            ahead.of_pair(j - first, end - first), w);
    add_query_gradient(head, i, is_first, dq, w);
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

/// Processes every `groups`-th key panel of a head from `group` on. Returns dL/drate.
double group_backward(const Head& head, std::size_t group, std::size_t groups, const Output& output,
                      const QueryRows& dq, AttentionGradients& out, const Workspace& w) {
  const Attention& a = head.a;
  const std::size_t first = group * a.panel();
  const AmxSession in_use(a.in_amx());
  const std::size_t seen_from =
      first < head.blocks() ? head.first_query_of(first) * block : a.length(head.b);
  for (std::size_t t = 0; t < seen_from; ++t) std::fill_n(dq.data + t * dq.stride, a.d, real(0));
  double rate = 0;
  for (std::size_t j = first; j < head.blocks(); j += groups * a.panel())
    rate += panel_backward(head, j, output, j == first, dq, out, w);
  return rate;
}

/// Sums the groups' partial query gradients (B, groups, H, T, d) into dq, in order.
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

}  // namespace

void backward(const Attention& a, const real* y, const real* g, const real* log_sum,
              AttentionGradients& out) {
  const std::size_t heads = a.B * a.H;
  const std::size_t groups = std::min(a.panels(), ceil_div(8, heads));
  Storage partial(groups > 1 ? heads * groups * a.T * a.d : 0);
  Scratch<real> scratch(scratch_size<Workspace>(a));
  out.rate.resize(heads * groups);
  out.penalty.resize(a.penalty ? heads * groups * a.T : 0);
  parallel_tasks(heads * groups, [&](std::size_t task) {
    const std::size_t h = task % a.H, group = task / a.H % groups, b = task / (a.H * groups);
    const Head head{a, b, h};
    double* penalty = a.penalty ? out.penalty.data() + task * a.T : nullptr;
    const QueryRows dq = groups > 1 ? QueryRows{partial.data() + task * a.T * a.d, a.d, penalty}
                                    : QueryRows{out.q.data() + head.offset(0), a.stride(), penalty};
    Arena arena(scratch.local());
    const Output output{y, g, log_sum + (b * a.H + h) * a.T};
    out.rate[task] = group_backward(head, group, groups, output, dq, out, Workspace(a, arena));
  });
  if (groups > 1) join(a, groups, partial.data(), out.q.data());
}

}  // namespace softmax_parts
}  // namespace bochner::inline BOCHNER_PRECISION
