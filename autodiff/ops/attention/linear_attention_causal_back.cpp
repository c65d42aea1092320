#include <bochner/autodiff/ops/attention/linear_attention_spans.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_parts {
namespace {

/// Computes sum (d + 1, F) = own + factor * after.
void join_later(const Sizes& n, const real* own, real factor, const real* after, real* sum) {
  for (std::size_t i = 0; i < n.state(); ++i) sum[i] = own[i] + factor * after[i];
}

/// Accumulates the gradient of the state that one span of one head reads.
class LaterHead : protected HeadWithGradients {
 public:
  LaterHead(const Attention& in, Memory& memory, std::size_t index, Arena& arena)
      : HeadWithGradients(in, memory, index, arena) {}

  /// Computes the gradient that the previous span receives from this span alone.
  void sum(std::size_t span, const Tensor& y, const Tensor& g) {
    if (span >= spans()) return;
    clear();
    for (std::size_t c = last_chunk(span); c-- > span * n_.span;) {
      const Place now = place(c);
      const std::size_t values = n_.value_offset(now);
      split(now, y.data() + values, g.data() + values, past(now), lowest(now));
      pass_chunk(now.rows, past(now)[now.rows - 1]);
    }
    std::copy_n(later_, n_.state(), after(span - 1));
    after(span - 1)[n_.state()] = real(decay_after_);
  }
  /// Adds the later spans' gradients, from the one before `first` on, once their sums exist.
  void join_all(std::size_t first) {
    for (std::size_t span = spans() - 1; span-- > first;)
      join_later(n_, after(span - 1), after(span - 1)[n_.state()], after(span), after(span - 1));
  }

 protected:
  void clear() {
    std::fill_n(later_, n_.state(), real(0));
    decay_after_ = 1;
  }
  real* after(std::size_t span) { return &memory_.later(b_, h_, span, 0); }

  /// Loads queries and the gradients of what they read.
  void split(const Place& place, const real* y, const real* g, const real* past,
             const real* lowest) {
    split_quotient(n_, place, g, y, normalizer(place), lowest, numerator_, weight_);
    scale_and_extend(place.rows, n_.d, past, numerator_, n_.d, weight_, extended_);
    in_.q->load(place, q_, nullptr);
  }
  void pass_chunk(std::size_t rows, real keep) {
    gemm(n_.d + 1, n_.F, rows, {extended_, n_.d + 1, transposed}, {q_, n_.F}, keep, later_, n_.F);
    decay_after_ *= keep;
  }

  double decay_after_ = 1;  // decay of what follows the span
};

/// Backward pass of one head of one sequence: segments and their chunks in reverse order.
class BackwardHead : LaterHead {
 public:
  BackwardHead(const Attention& in, Memory& memory, std::size_t index, Arena& arena)
      : LaterHead(in, memory, index, arena), past_(n_, arena) {
    arena.take(n_.C * n_.C, product_, slope_of_product_);
    arena.take(n_.state(), all_later_);
    arena.take(n_.C, query_slope_);
    for (std::size_t c = 0; c < std::min(n_.segment, n_.chunks()); ++c)
      segment_.emplace_back(n_, arena);
  }

  static void run(Heads<BackwardHead>& heads, std::size_t first, std::size_t last, const Tensor& y,
                  const Tensor& g, OtherGradients& out) {
    for (std::size_t span = std::min(last, heads[0].spans()); span-- > first;) {
      run(heads, span, y, g, out);
      if (span == first) return;
      for (BackwardHead& head : heads) head.pass(span);
    }
  }

 private:
  static void run(Heads<BackwardHead>& heads, std::size_t span, const Tensor& y, const Tensor& g,
                  OtherGradients& out) {
    for (BackwardHead& head : heads) head.start(span);
    const std::size_t size = heads[0].n_.segment, begin = span * heads[0].n_.span;
    for (std::size_t last = heads[0].last_chunk(span), first; last > begin; last = first) {
      first = begin + (last - 1 - begin) / size * size;
      for (BackwardHead& head : heads) head.start_segment(span, (first - begin) / size);
      for (std::size_t c = first; c < last; ++c) {
        for (BackwardHead& head : heads) head.load_chunk(c, first, last);
      }
      for (std::size_t c = last; c-- > first;) {
        for (BackwardHead& head : heads) head.differentiate(span, c, first, y, g, out);
      }
    }
  }

  void start(std::size_t span) {
    clear();
    after_ = span + 1 < spans() ? after(span) : nullptr;
    past_.begin(n_, state_before(span));
  }

  /// Returns the gradient of all that later tokens read, in this span and after it.
  const real* all_later() {
    if (!after_) return later_;
    join_later(n_, later_, real(decay_after_), after_, all_later_);
    return all_later_;
  }

  void start_segment(std::size_t span, std::size_t segment) {
    if (segment == 0)
      past_.own.clear(n_);
    else
      past_.own.restore(n_, state_before(span, segment));
  }

  void load_chunk(std::size_t c, std::size_t first, std::size_t last) {
    State& own = past_.own;
    Chunk& chunk = segment_[c - first];
    std::copy_n(past_.all(n_).sums, n_.state(), chunk.state);
    Keys& keys = chunk.keys;
    keys.load(in_, place(c, std::min(c + 1, last - 1)), own.unit, past_.unit_before());
    if (c + 1 < last) own.add(n_, keys);
    if (keys.carried != keys.last()) keys.carry_in(in_, place(c), keys.last());
  }

  void differentiate(std::size_t span, std::size_t c, std::size_t first, const Tensor& y,
                     const Tensor& g, OtherGradients& out) {
    const Chunk& chunk = segment_[c - first];
    const Place now = place(c, std::max(c, first + 1) - 1);
    const std::size_t values = n_.value_offset(now);
    differentiate(now, chunk, y.data() + values, g.data() + values, out.v.data() + values);
    if (in_.extra) differentiate_extra(now, y.data() + values, g.data() + values, out);
    if (!out.rate.empty()) differentiate_rates(now, span, chunk.state, out);
  }

  void pass(std::size_t span) { std::copy_n(all_later(), n_.state(), after(span - 1)); }

  void differentiate(const Place& place, const Chunk& chunk, const real* y, const real* g,
                     real* dv) {
    const Keys& keys = chunk.keys;
    split(place, y, g, keys.past, keys.lowest);
    const real* later = all_later();
    differentiate_products(keys, in_.v + n_.value_offset(place));
    differentiate_values(keys, later, dv);
    differentiate_queries(place, keys, chunk.state);
    differentiate_keys(place, keys, later);
    pass_chunk(place.rows, keys.past[place.rows - 1]);
  }

  /// Computes product = weight * q k^T and the gradient of q k^T.
  void differentiate_products(const Keys& keys, const real* v) {
    const std::size_t rows = keys.rows;
    const Triangle triangle(n_, rows);
    triangle.multiply(n_.F, {q_, n_.F}, {keys.features, n_.F}, product_);
    triangle.multiply(n_.d, {numerator_, n_.d}, {v, n_.value_stride()}, slope_of_product_);
    keys.for_each_unit([&](std::size_t first, std::size_t last, const real* weight) {
      for (std::size_t i = first; i < last; ++i) {
        weigh_row(i, rows, weight, 0, product_ + i * n_.C);
        weigh_row(i, rows, weight, weight_[i], slope_of_product_ + i * n_.C);
      }
    });
  }

  void differentiate_values(const Keys& keys, const real* later, real* dv) {
    gemm(keys.rows, n_.d, n_.F, {keys.features, n_.F}, {later, n_.F, transposed}, 0, dv,
         n_.value_stride());
    for (std::size_t j = 0; j < keys.rows; ++j) {
      const real carry = keys.carry[j];
      for (std::size_t e = 0; e < n_.d; ++e) dv[j * n_.value_stride() + e] *= carry;
    }
    Triangle(n_, keys.rows)
        .sum_queries(n_.d, product_, {numerator_, n_.d}, 1, dv, n_.value_stride());
  }

  void differentiate_queries(const Place& place, const Keys& keys, const real* state) {
    Triangle(n_, place.rows)
        .sum_keys(n_.F, slope_of_product_, {keys.features, n_.F}, 0, gradient_, n_.F);
    gemm(place.rows, n_.F, n_.d + 1, {extended_, n_.d + 1}, {state, n_.F}, 1, gradient_, n_.F);
    in_.q->store(place, q_, gradient_, in_.decay.rate || in_.extra ? query_slope_ : nullptr);
  }

  void differentiate_extra(const Place& place, const real* y, const real* g, OtherGradients& out) {
    const real *extra = in_.extra_at(place), *weight = share(place);
    real* to = out.extra.data() + (extra - in_.extra);
    const std::size_t row = n_.H * (n_.d + 1);
    for (std::size_t i = 0; i < place.rows; ++i, to += row, extra += row) {
      const real *gi = g + i * n_.value_stride(), *yi = y + i * n_.value_stride();
      for (std::size_t e = 0; e < n_.d; ++e) to[e] = weight[i] * gi[e];
      to[n_.d] = weight[i] * (dot_row(gi, extra, n_.d) - dot_row(gi, yi, n_.d));
    }
  }

  void differentiate_keys(const Place& place, const Keys& keys, const real* later) {
    Triangle(n_, place.rows).sum_queries(n_.F, slope_of_product_, {q_, n_.F}, 0, gradient_, n_.F);
    gemm(place.rows, n_.F, n_.d + 1, {keys.extended, n_.d + 1}, {later, n_.F}, 1, gradient_, n_.F);
    in_.k->store(place, keys.features, gradient_, slope_);
  }

  /// `passing` is the derivative by the logarithm of the decay from before token t to t and beyond;
  /// that of the rate is its negative. At the first token it comes from the state. Slopes of
  /// queries are zero without a floor, up to rounding errors that the slopes of keys share.
  void differentiate_rates(const Place& place, std::size_t span, const real* state,
                           OtherGradients& out) {
    double passing = dot_row(all_later(), state, n_.state());
    const std::size_t shared = (place.b * n_.spans() + span) * n_.H + place.h;
    for (std::size_t t = 0; t < place.rows; ++t) {
      const std::size_t token = (place.b * n_.T + place.first + t) * n_.H + place.h;
      out.rate[in_.decay.by_token ? token : shared] -= passing;
      passing += double(slope_[t]) - double(query_slope_[t]);
    }
  }

  real *product_, *slope_of_product_;  // (C, C)
  real* query_slope_;                  // (C)
  real* all_later_;                    // (d + 1, F)
  const real* after_ = nullptr;        // gradient of all that is read after the span
  Past past_;
  std::vector<Chunk> segment_;
};

}  // namespace

void attend_causally_backward(const Attention& in, Memory& memory, const Tensor& y, const Tensor& g,
                              OtherGradients& gradients) {
  const SpanGroups groups(in.n);
  if (groups.spans > 1)
    memory.later = uninitialized({in.n.B, in.n.H, groups.spans, in.n.state() + 1});
  if (const std::size_t first = groups.first(1); first < groups.spans) {
    for_each_part<LaterHead>(in, memory, groups.spans - first,
                             [&](Heads<LaterHead>& heads, std::size_t part) {
                               for (LaterHead& head : heads) head.sum(first + part, y, g);
                             });
    for_each_head<LaterHead>(in, memory, [&](Heads<LaterHead>& heads) {
      for (LaterHead& head : heads) head.join_all(first);
    });
  }
  for_each_group<BackwardHead>(
      in, memory, [&](Heads<BackwardHead>& heads, std::size_t first, std::size_t last) {
        BackwardHead::run(heads, first, last, y, g, gradients);
      });
}

}  // namespace linear_attention_parts
}  // namespace bochner::inline BOCHNER_PRECISION
