#include <bochner/autodiff/ops/linear_attention_parts.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_parts {
namespace {

/// Row i of `products` becomes weight_j (product_ij + offset) for j <= i and 0 beyond.
inline void weigh_row(std::size_t i, std::size_t rows, const real* weight, real offset,
                      real* products) {
  const int diagonal = int(i), count = int(rows);
  for (int j = 0; j < count; ++j)
    products[j] = j <= diagonal ? weight[j] * (products[j] + offset) : real(0);
}

/// A chunk of keys and the state before it.
struct Chunk {
  Keys keys;
  real* state;

  Chunk(const Sizes& n, Arena& arena) : keys(n, arena) { arena.take(n.state(), state); }
};

/// Chunks that the backward pass holds at once: half a megabyte in float.
std::size_t segment_chunks(const Sizes& n) {
  constexpr std::size_t elements = 131072, to_align = sizeof(double) / sizeof(real);
  return 1 + elements / (scratch_size<Chunk>(n) + to_align);
}
std::size_t segments(const Sizes& n) {
  const std::size_t size = segment_chunks(n);
  return (n.chunks() + size - 1) / size;
}

class ForwardHead : OneHead {
 public:
  ForwardHead(const Attention& in, Memory& memory, std::size_t index, Arena& arena)
      : OneHead(in, memory, index),
        segment_(segment_chunks(n_)),
        keys_(n_, arena),
        state_(n_, arena) {
    arena.take(n_.C * n_.F, q_);
    arena.take(n_.C * n_.C, product_);
    arena.take(n_.C * n_.d, recent_, past_);
    arena.take(n_.C, query_unit_);
  }

  void run(real* out) {
    state_.clear(n_);
    for (std::size_t c = 0; c < chunks(); ++c) {
      const Place now = place(c);
      if (c % segment_ == 0) state_.save(n_, state_before(c / segment_));
      if (c + 1 < chunks()) {
        in_.prefetch_keys(place(c + 1));
        in_.q->prefetch(place(c + 1));
      }
      keys_.load(in_, now, state_.unit);
      in_.q->load(now, q_, in_.beside ? query_unit_ : nullptr);
      multiply(normalizer(now));
      if (in_.beside) add_beside(now, normalizer(now), share(now));
      read(now, normalizer(now), out + n_.value_offset(now));
      state_.add(n_, keys_);
    }
  }

 private:
  /// product = weight * (q k^T), and the normalizer, to which the past adds its weights.
  void multiply(real* normalizer) {
    const std::size_t rows = keys_.rows;
    gemm(rows, rows, n_.F, {q_, n_.F}, {keys_.features, n_.F, transposed}, 0, product_, n_.C);
    keys_.for_each_unit([&](std::size_t first, std::size_t last, const real* weight) {
      for (std::size_t i = first; i < last; ++i) {
        real* row = product_ + i * n_.C;
        weigh_row(i, rows, weight, 0, row);
        const real past = keys_.past[i] * dot_row(q_ + i * n_.F, state_.weights(n_), n_.F);
        normalizer[i] = safe_inverse(sum_row(row, rows) + past, keys_.lowest[i]);
      }
    });
  }

  /// From 1 / sums to 1 / (sums and what is beside), and the share of the latter.
  void add_beside(const Place& place, real* normalizer, real* share) {
    const real* beside = in_.beside_at(place);
    for (std::size_t i = 0; i < place.rows; ++i) {
      const double unit =
          double(in_.log_factor + query_unit_[i]) + keys_.reference[i] - keys_.time[i];
      const real log_beside = real(double(beside[i * n_.H * (n_.d + 1) + n_.d]) - unit);
      const real sum = normalizer[i] == 0 ? real(0) : 1 / normalizer[i];
      share[i] = share_beside(log_beside, sum, normalizer + i);
    }
  }

  void read(const Place& place, const real* normalizer, real* y) {
    gemm(place.rows, n_.d, place.rows, {product_, n_.C},
         {in_.v + n_.value_offset(place), n_.value_stride()}, 0, recent_, n_.d);
    gemm(place.rows, n_.d, n_.F, {q_, n_.F}, {state_.sums, n_.F, transposed}, 0, past_, n_.d);
    for (std::size_t i = 0; i < place.rows; ++i, y += n_.value_stride()) {
      const real *recent = recent_ + i * n_.d, *past = past_ + i * n_.d;
      for (std::size_t e = 0; e < n_.d; ++e)
        y[e] = normalizer[i] * (recent[e] + keys_.past[i] * past[e]);
      if (!in_.beside) continue;
      const real* mean = in_.beside_at(place) + i * n_.H * (n_.d + 1);
      for (std::size_t e = 0; e < n_.d; ++e) y[e] += share(place)[i] * mean[e];
    }
  }

  std::size_t segment_;  // its chunks
  Keys keys_;
  State state_;
  real *q_, *product_, *recent_, *past_;
  real* query_unit_;  // (C): logarithms of the units of queries
};

/// One head of one sequence, segments and their chunks in reverse order.
class BackwardHead : HeadWithGradients {
 public:
  BackwardHead(const Attention& in, Memory& memory, std::size_t index, Arena& arena)
      : HeadWithGradients(in, memory, index, arena) {
    arena.take(n_.C * n_.C, product_, slope_of_product_);
    arena.take(n_.C, query_slope_);
    for (std::size_t c = 0; c < std::min(segment_chunks(n_), n_.chunks()); ++c)
      segment_.emplace_back(n_, arena);
  }

  void run(const Tensor& y, const Tensor& g, OtherGradients& out) {
    std::fill_n(later_, n_.state(), real(0));
    const std::size_t size = segment_chunks(n_);
    for (std::size_t segment = (chunks() + size - 1) / size; segment-- > 0;) {
      const std::size_t first = segment * size, last = std::min(chunks(), first + size);
      load_segment(segment, first, last);
      for (std::size_t c = last; c-- > first;) {
        const Chunk& chunk = segment_[c - first];
        const Place now = place(c);
        const std::size_t values = n_.value_offset(now);
        if (c > first) prefetch(place(c - 1), y, g);
        differentiate(now, chunk, y.data() + values, g.data() + values, out.v.data() + values);
        if (in_.beside) differentiate_beside(now, y.data() + values, g.data() + values, out);
        if (in_.decay.rate) differentiate_rates(now, chunk.state, out);
      }
    }
  }

 private:
  void prefetch(const Place& place, const Tensor& y, const Tensor& g) const {
    in_.q->prefetch(place);
    in_.prefetch(y.data(), place);
    in_.prefetch(g.data(), place);
  }

  /// The keys of each chunk and the state before it.
  void load_segment(std::size_t segment, std::size_t first, std::size_t last) {
    state_.restore(n_, state_before(segment));
    for (std::size_t c = first; c < last; ++c) {
      Chunk& chunk = segment_[c - first];
      std::copy_n(state_.sums, n_.state(), chunk.state);
      if (c + 1 < last) in_.prefetch_keys(place(c + 1));
      chunk.keys.load(in_, place(c), state_.unit);
      if (c + 1 < last) state_.add(n_, chunk.keys);
    }
  }

  void differentiate(const Place& place, const Chunk& chunk, const real* y, const real* g,
                     real* dv) {
    const Keys& keys = chunk.keys;
    split_quotient(n_, place.rows, g, y, normalizer(place), keys.lowest, numerator_, weight_);
    scale_and_extend(place.rows, n_.d, keys.past, numerator_, n_.d, weight_, extended_);
    in_.q->load(place, q_, nullptr);
    differentiate_products(keys, in_.v + n_.value_offset(place));
    differentiate_values(keys, dv);
    differentiate_queries(place, keys, chunk.state);
    differentiate_keys(place, keys);
    gemm(n_.d + 1, n_.F, place.rows, {extended_, n_.d + 1, transposed}, {q_, n_.F}, keys.keep,
         later_, n_.F);
  }

  /// product = weight * q k^T, and the gradient of q k^T.
  void differentiate_products(const Keys& keys, const real* v) {
    const std::size_t rows = keys.rows;
    gemm(rows, rows, n_.F, {q_, n_.F}, {keys.features, n_.F, transposed}, 0, product_, n_.C);
    gemm(rows, rows, n_.d, {numerator_, n_.d}, {v, n_.value_stride(), transposed}, 0,
         slope_of_product_, n_.C);
    keys.for_each_unit([&](std::size_t first, std::size_t last, const real* weight) {
      for (std::size_t i = first; i < last; ++i) {
        weigh_row(i, rows, weight, 0, product_ + i * n_.C);
        weigh_row(i, rows, weight, weight_[i], slope_of_product_ + i * n_.C);
      }
    });
  }

  void differentiate_values(const Keys& keys, real* dv) {
    gemm(keys.rows, n_.d, n_.F, {keys.features, n_.F}, {later_, n_.F, transposed}, 0, dv,
         n_.value_stride());
    for (std::size_t j = 0; j < keys.rows; ++j) {
      for (std::size_t e = 0; e < n_.d; ++e) dv[j * n_.value_stride() + e] *= keys.carry[j];
    }
    gemm(keys.rows, n_.d, keys.rows, {product_, n_.C, transposed}, {numerator_, n_.d}, 1, dv,
         n_.value_stride());
  }

  void differentiate_queries(const Place& place, const Keys& keys, const real* state) {
    gemm(place.rows, n_.F, place.rows, {slope_of_product_, n_.C}, {keys.features, n_.F}, 0,
         gradient_, n_.F);
    gemm(place.rows, n_.F, n_.d + 1, {extended_, n_.d + 1}, {state, n_.F}, 1, gradient_, n_.F);
    in_.q->store(place, q_, gradient_, in_.decay.rate || in_.beside ? query_slope_ : nullptr);
  }

  void differentiate_beside(const Place& place, const real* y, const real* g, OtherGradients& out) {
    const real *beside = in_.beside_at(place), *weight = share(place);
    real* to = out.beside.data() + (beside - in_.beside);
    const std::size_t row = n_.H * (n_.d + 1);
    for (std::size_t i = 0; i < place.rows; ++i, to += row, beside += row) {
      const real *gi = g + i * n_.value_stride(), *yi = y + i * n_.value_stride();
      for (std::size_t e = 0; e < n_.d; ++e) to[e] = weight[i] * gi[e];
      to[n_.d] = weight[i] * (dot_row(gi, beside, n_.d) - dot_row(gi, yi, n_.d));
    }
  }

  void differentiate_keys(const Place& place, const Keys& keys) {
    gemm(place.rows, n_.F, place.rows, {slope_of_product_, n_.C, transposed}, {q_, n_.F}, 0,
         gradient_, n_.F);
    gemm(place.rows, n_.F, n_.d + 1, {keys.extended, n_.d + 1}, {later_, n_.F}, 1, gradient_, n_.F);
    in_.k->store(place, keys.features, gradient_, slope_);
  }

  /// `passing`: the derivative with respect to the logarithm of what passes from before token t to
  /// t and beyond; that of the rate is its negative. At the first token all of it comes from the
  /// state. The slopes of queries are zero where no floor is, but for rounding errors, which those
  /// of keys share.
  void differentiate_rates(const Place& place, const real* state, OtherGradients& out) {
    double passing = dot_row(later_, state, n_.state());
    for (std::size_t t = 0; t < place.rows; ++t) {
      const std::size_t token = (place.b * n_.T + place.first + t) * n_.H + place.h;
      out.rate[in_.decay.by_token ? token : place.b * n_.H + place.h] -= passing;
      passing += double(slope_[t]) - double(query_slope_[t]);
    }
  }

  real *product_, *slope_of_product_;  // (C, C)
  real* query_slope_;                  // (C)
  std::vector<Chunk> segment_;
};

}  // namespace

void attend_causally(const Attention& in, Memory& memory, Tensor& out) {
  memory.allocate(in.n, segments(in.n), in.beside);
  for_each_head<ForwardHead>(in, memory, [&](ForwardHead& head) { head.run(out.data()); });
}

void attend_causally_backward(const Attention& in, Memory& memory, const Tensor& y, const Tensor& g,
                              OtherGradients& gradients) {
  for_each_head<BackwardHead>(in, memory, [&](BackwardHead& head) { head.run(y, g, gradients); });
}

}  // namespace linear_attention_parts
}  // namespace bochner::inline BOCHNER_PRECISION
