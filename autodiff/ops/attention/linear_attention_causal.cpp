#include <bochner/autodiff/ops/attention/linear_attention_spans.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_parts {
namespace {

class ForwardHead : CausalHead {
 public:
  ForwardHead(const Attention& in, Memory& memory, std::size_t index, Arena& arena)
      : CausalHead(in, memory, index, arena) {
    arena.take(n_.C * n_.F, q_);
    arena.take(n_.C * n_.C, product_);
    arena.take(n_.C * n_.d, recent_, older_);
    arena.take(n_.C, query_unit_, seen_);
  }

  static void run(Heads<ForwardHead>& heads, std::size_t first, std::size_t last, real* out) {
    last = std::min(last, heads[0].spans());
    for (std::size_t span = first; span < last; ++span) {
      for (ForwardHead& head : heads) head.begin(span);
      for (std::size_t c = span * heads[0].n_.span; c < heads[0].last_chunk(span); ++c) {
        for (ForwardHead& head : heads) head.attend(span, c, out);
      }
      if (span + 1 == last) return;
      for (ForwardHead& head : heads) head.end(span);
    }
  }

 private:
  void begin(std::size_t span) { past_.begin(n_, state_before(span)); }

  void attend(std::size_t span, std::size_t c, real* out) {
    const Place now = place(c, std::min(c + 1, chunks() - 1));
    const std::size_t seen = c - span * n_.span;
    if (seen % n_.segment == 0 && seen > 0)
      past_.own.save(n_, state_before(span, seen / n_.segment));
    const State& state = past_.all(n_);
    keys_.load(in_, now, past_.own.unit, past_.unit_before());
    in_.q->load(now, q_, in_.extra ? query_unit_ : nullptr);
    multiply(state, normalizer(now));
    if (in_.extra) add_extra(now, normalizer(now), share(now));
    read(state, now, normalizer(now), out + n_.value_offset(now));
    if (n_.spans() > 1) remember(now);
    past_.own.add(n_, keys_);
  }

  void end(std::size_t span) {
    past_.own.save(n_, before(span + 1));
    join(span);
  }

  /// Computes product = weight * (q k^T) and the normalizer, including the weights of the past.
  void multiply(const State& state, real* normalizer) {
    const std::size_t rows = keys_.rows;
    Triangle(n_, rows).multiply(n_.F, {q_, n_.F}, {keys_.features, n_.F}, product_);
    keys_.for_each_unit([&](std::size_t first, std::size_t last, const real* weight) {
      for (std::size_t i = first; i < last; ++i) weigh_row(i, rows, weight, 0, product_ + i * n_.C);
    });
    sum_each_row(rows, rows, product_, n_.C, normalizer);
    dot_each_row(rows, n_.F, q_, n_.F, state.weights(n_), 0, seen_);
    for (std::size_t i = 0; i < rows; ++i) {
      const real sum = normalizer[i] + keys_.past[i] * seen_[i];
      if (in_.logarithmic && !in_.extra) require_weights(sum, i);
      normalizer[i] = safe_inverse(sum, keys_.lowest[i]);
    }
  }

  void require_weights(real sum, std::size_t i) const {
    linear_attention_parts::require_weights(sum, keys_.reference[i], q_ + i * n_.F, n_.F);
  }

  /// Turns 1 / sums into 1 / (sums + extra term) and computes the extra term's share.
  void add_extra(const Place& place, real* normalizer, real* share) {
    const real* extra = in_.extra_at(place);
    for (std::size_t i = 0; i < place.rows; ++i) {
      const double unit =
          double(in_.log_factor + query_unit_[i]) + keys_.reference[i] - keys_.time[i];
      const real log_extra = real(double(extra[i * n_.H * (n_.d + 1) + n_.d]) - unit);
      const real sum = normalizer[i] == 0 ? real(0) : 1 / normalizer[i];
      if (in_.logarithmic && log_extra < std::log(least_sum)) require_weights(sum, i);
      share[i] = extra_share(log_extra, sum, normalizer + i);
    }
  }

  void read(const State& state, const Place& place, const real* normalizer, real* y) {
    Triangle(n_, place.rows)
        .sum_keys(n_.d, product_, {in_.v + n_.value_offset(place), n_.value_stride()}, 0, recent_,
                  n_.d);
    gemm(place.rows, n_.d, n_.F, {q_, n_.F}, {state.sums, n_.F, transposed}, 0, older_, n_.d);
    for (std::size_t i = 0; i < place.rows; ++i, y += n_.value_stride()) {
      const real* __restrict recent = recent_ + i * n_.d, * __restrict older = older_ + i * n_.d;
      const real factor = normalizer[i], past = keys_.past[i];
      real* __restrict to = y;
      for (std::size_t e = 0; e < n_.d; ++e) to[e] = factor * (recent[e] + past * older[e]);
      if (!in_.extra) continue;
      const real* mean = in_.extra_at(place) + i * n_.H * (n_.d + 1);
      for (std::size_t e = 0; e < n_.d; ++e) y[e] += share(place)[i] * mean[e];
    }
  }

  /// Stores the weights for the backward pass, which then needs no keys for its first sums.
  void remember(const Place& place) {
    std::copy_n(keys_.past, place.rows, past(place));
    std::copy_n(keys_.lowest, place.rows, lowest(place));
  }

  real *q_, *product_, *recent_, *older_;
  real* seen_;        // (C): weights of earlier chunks
  real* query_unit_;  // (C): logarithms of the units of queries
};

}  // namespace

void cut_into_spans(Sizes& n, std::size_t tokens) {
  constexpr std::size_t short_sequence = 4096, shortest = 2048, tasks = 16;
  constexpr std::size_t held = 131072;  // elements: half a megabyte in float
  const std::size_t heads = n.B * n.H, to_align = sizeof(double) / sizeof(real);
  const bool is_long = n.T > short_sequence && 2 * heads <= tasks;
  if (tokens == 0) tokens = is_long ? std::max(shortest, n.T * heads / tasks) : n.T;
  const std::size_t wanted = std::max<std::size_t>(1, ceil_div(tokens, n.C));
  const std::size_t most = std::min(wanted, 1 + held / (scratch_size<Chunk>(n) + to_align));
  n.span = round_up(wanted, most);
  n.segment = ceil_div(most, n.together);
}

void attend_causally(const Attention& in, Memory& memory, Tensor& out) {
  memory.allocate(in.n, in.n.spans() * in.n.segments_of_span(), in.extra);
  const SpanGroups groups(in.n);
  if (const std::size_t last = groups.first(groups.count - 1); last > 0) {
    for_each_part<CausalHead>(in, memory, last, [](Heads<CausalHead>& heads, std::size_t span) {
      for (CausalHead& head : heads) head.sum(span);
    });
    for_each_head<CausalHead>(in, memory, [&](Heads<CausalHead>& heads) {
      for (CausalHead& head : heads) head.join_all(last);
    });
  }
  for_each_group<ForwardHead>(in, memory,
                              [&](Heads<ForwardHead>& heads, std::size_t first, std::size_t last) {
                                ForwardHead::run(heads, first, last, out.data());
                              });
}

}  // namespace linear_attention_parts
}  // namespace bochner::inline BOCHNER_PRECISION
