#include <bochner/autodiff/ops/attention/delta_rule_parts.hpp>
#include <utility>

namespace bochner::inline BOCHNER_PRECISION {
namespace delta_rule_parts {

namespace {

/// Returns the chunks per segment, which the backward pass holds at once: half a megabyte in float,
/// or up to the square root of all if the states between segments exceed an eighth of q, k and v.
std::size_t chunks_of_segment(const Inputs& in) {
  constexpr std::size_t elements = 131072;
  const Sizes& n = in.n;
  const auto root = std::size_t(std::sqrt(double(n.chunks())));
  const std::size_t light = 8 * n.state() / (n.C * (2 * n.F + n.d));
  return std::max(1 + elements / scratch_size<DeltaChunk>(in), std::min(root, light));
}
std::size_t segments_of(const Inputs& in) {
  const std::size_t size = chunks_of_segment(in);
  return ceil_div(in.n.chunks(), size);
}

class DeltaHead {
 protected:
  DeltaHead(const Inputs& in, std::size_t index)
      : in_(in), n_(in.n), b_(index / n_.H), h_(index % n_.H), segment_(chunks_of_segment(in)) {}

  std::size_t length() const { return length_of(in_.lengths, b_, n_.T); }
  std::size_t chunks() const { return ceil_div(length(), n_.C); }
  /// Returns chunk `chunk` in write order.
  Place place(std::size_t chunk) const {
    const std::size_t first = chunk * n_.C, rows = std::min(n_.C, length() - first);
    return {b_, h_, in_.reverse ? length() - first - rows : first, rows};
  }
  /// Returns the place of a chunk that prefetches `next`; pass the chunk itself for none.
  Place place(std::size_t chunk, std::size_t next) const {
    return place(chunk).before(place(next));
  }
  std::size_t segment_offset(std::size_t segment) const {
    return ((b_ * n_.H + h_) * segments_of(in_) + segment) * n_.state();
  }

  const Inputs& in_;
  const Sizes& n_;
  std::size_t b_, h_;
  std::size_t segment_;  // in chunks
};

class DeltaForward : DeltaHead {
 public:
  DeltaForward(const Inputs& in, std::size_t index, Arena& arena)
      : DeltaHead(in, index), chunk_(in, arena) {
    arena.take(2 * n_.C * n_.d, past_);
  }

  void run(real* states, real* out) {
    std::fill_n(chunk_.state, n_.state(), real(0));
    for (std::size_t c = 0; c < chunks(); ++c) {
      const Place now = place(c, std::min(c + 1, chunks() - 1));
      if (states && c % segment_ == 0)
        std::copy_n(chunk_.state, n_.state(), states + segment_offset(c / segment_));
      chunk_.load(in_, now);
      chunk_.write(in_, now, true, past_);
      read(now, out);
      chunk_.add_to(in_, chunk_.state);
    }
  }

 private:
  void read(const Place& place, real* out) {
    const std::size_t rows = chunk_.rows;
    real* y = past_ + rows * n_.d;
    gemm(rows, n_.d, rows, {chunk_.seen_by_queries(n_), n_.C}, {chunk_.written, n_.d}, 1, y, n_.d);
    for (std::size_t i = 0; i < rows; ++i)
      std::copy_n(y + i * n_.d, n_.d, out + in_.token(place, i) * n_.d);
  }

  DeltaChunk chunk_;
  real* past_;  // (2 C, d)
};

/// Backward pass of one head: segments and their chunks in reverse order.
class DeltaBackward : DeltaHead {
 public:
  DeltaBackward(const Inputs& in, std::size_t index, Arena& arena) : DeltaHead(in, index) {
    arena.take(in_.fading.width, passing_);
    arena.take(n_.state(), later_);
    arena.take(2 * n_.C * n_.F, gradient_);
    arena.take(n_.C * n_.F, written_gradient_);
    arena.take(2 * n_.C * n_.C, slopes_);
    arena.take(2 * n_.C * n_.d, readings_);
    arena.take(n_.C * n_.d, slope_);
    arena.take(n_.C, own_slope_);
    for (std::size_t c = 0; c < std::min(segment_, n_.chunks()); ++c)
      chunks_.emplace_back(in, arena);
  }

  void run(const real* states, const real* g, OtherGradients& out) {
    std::fill_n(later_, n_.state(), real(0));
    for (std::size_t segment = ceil_div(chunks(), segment_); segment-- > 0;) {
      const std::size_t first = segment * segment_, last = std::min(chunks(), first + segment_);
      load_segment(states + segment_offset(segment), first, last);
      for (std::size_t c = last; c-- > first;) {
        differentiate(place(c, std::max(c, first + 1) - 1), chunks_[c - first], g, out);
      }
    }
  }

 private:
  /// Recomputes every chunk of a segment and the state before it.
  void load_segment(const real* state, std::size_t first, std::size_t last) {
    std::copy_n(state, n_.state(), chunks_[0].state);
    for (std::size_t c = first; c < last; ++c) {
      DeltaChunk& chunk = chunks_[c - first];
      const Place now = place(c, std::min(c + 1, last - 1));
      chunk.load(in_, now);
      chunk.write(in_, now, false, readings_);
      if (c + 1 == last) return;
      real* next = chunks_[c + 1 - first].state;
      std::copy_n(chunk.state, n_.state(), next);
      chunk.add_to(in_, next);
    }
  }

  void differentiate(const Place& place, DeltaChunk& chunk, const real* g, OtherGradients& out) {
    const std::size_t rows = chunk.rows;
    for (std::size_t i = 0; i < rows; ++i) {
      const real* row = g + in_.token(place, i) * n_.d;
      place.prefetch_next(i, row, n_.H * n_.d, n_.d);
      std::copy_n(row, n_.d, readings_ + (rows + i) * n_.d);
    }
    differentiate_written(chunk);
    substitute(place, chunk, out);
    differentiate_features(chunk);
    chunk.add_readings(in_, readings_, later_);
    if (in_.fading.rate) differentiate_rates(place, chunk, out);
    add_own(chunk);
    store(place, chunk);
  }

  /// Sets slope to the gradient of the written values, which queries and later chunks read.
  void differentiate_written(const DeltaChunk& chunk) {
    const std::size_t rows = chunk.rows;
    gemm(rows, n_.d, n_.F, {chunk.writing, n_.F}, {later_, n_.d}, 0, slope_, n_.d);
    gemm(rows, n_.d, rows, {chunk.seen_by_queries(n_), n_.C, transposed},
         {readings_ + rows * n_.d, n_.d}, 1, slope_, n_.d);
  }

  /// Back-substitutes from the last token to the first: slope becomes the gradient of strength *
  /// error. The gradient of the errors, equal to that of values, goes to the first half of readings
  /// with its sign flipped, because errors subtract what keys read.
  void substitute(const Place& place, const DeltaChunk& chunk, OtherGradients& out) {
    for (std::size_t j = chunk.rows; j-- > 0;) {
      const real* slope = slope_ + j * n_.d;
      const std::size_t token = in_.token(place, j);
      const real strength = in_.strength[token];
      real *value = out.v.data() + token * n_.d, *reading = readings_ + j * n_.d;
      out.strength.data()[token] = dot_row(slope, chunk.errors + j * n_.d, n_.d);
      for (std::size_t e = 0; e < n_.d; ++e) {
        value[e] = strength * slope[e];
        reading[e] = -value[e];
      }
      for (std::size_t i = 0; i < j; ++i)
        subtract_row(chunk.scores[j * n_.C + i], value, n_.d, slope_ + i * n_.d);
    }
  }

  /// Computes the gradients of reading keys and queries and of written keys, except a query's read
  /// of its own token, which no rate decays.
  void differentiate_features(const DeltaChunk& chunk) {
    const std::size_t rows = chunk.rows, w = in_.fading.width, queries = rows * n_.F;
    gemm(2 * rows, n_.F, n_.d, {readings_, n_.d}, {chunk.state, n_.d, transposed}, 0, gradient_,
         n_.F);
    gemm(rows, n_.F, n_.d, {chunk.written, n_.d}, {later_, n_.d, transposed}, 0, written_gradient_,
         n_.F);
    if (in_.fading.rate) {
      scale_channels(rows, n_.F, w, chunk.passed, gradient_);
      scale_channels(rows, n_.F, w, chunk.passed, gradient_ + queries);
      scale_channels(rows, n_.F, w, chunk.carry, written_gradient_);
    }
    gemm(2 * rows, rows, n_.d, {readings_, n_.d}, {chunk.written, n_.d, transposed}, 0, slopes_,
         n_.C);
    const bool by_channel = in_.fading.rate && w > 1;
    if (!by_channel) chunk.weigh_pairs(in_, slopes_);
    for (std::size_t i = 0; i < rows; ++i)
      own_slope_[i] = std::exchange(slopes_[(rows + i) * n_.C + i], real(0));
    if (by_channel) return chunk.pairs(n_).differentiate(slopes_, gradient_, written_gradient_);
    gemm(2 * rows, n_.F, rows, {slopes_, n_.C}, {chunk.units, n_.F}, 1, gradient_, n_.F);
    gemm(rows, n_.F, 2 * rows, {slopes_, n_.C, transposed}, {chunk.units, n_.F}, 1,
         written_gradient_, n_.F);
  }

  void add_own(const DeltaChunk& chunk) {
    const std::size_t queries = chunk.rows * n_.F;
    for (std::size_t i = 0; i < chunk.rows; ++i) {
      const real *key = chunk.units + i * n_.F, *query = key + queries;
      real* __restrict written = written_gradient_ + i * n_.F;
      real* __restrict read = gradient_ + queries + i * n_.F;
      for (std::size_t f = 0; f < n_.F; ++f) {
        read[f] += own_slope_[i] * key[f];
        written[f] += own_slope_[i] * query[f];
      }
    }
  }

  /// `passing` is the derivative by the logarithm of the decay from before token t to t and beyond;
  /// that of the rate is its negative. At the first token it comes from the state; then a token's
  /// writes are added and its reads removed.
  void differentiate_rates(const Place& place, const DeltaChunk& chunk, OtherGradients& out) {
    const std::size_t w = in_.fading.width, size = n_.state() / w, queries = chunk.rows * n_.F;
    for (std::size_t c = 0; c < w; ++c)
      passing_[c] = dot_row(later_ + c * size, chunk.state + c * size, size);
    for (std::size_t t = 0; t < chunk.rows; ++t) {
      pass_on(place, t, out);
      const real *key = chunk.units + t * n_.F, *query = key + queries;
      const real *written = written_gradient_ + t * n_.F, *read = gradient_ + t * n_.F;
      if (w == 1) {
        passing_[0] += double(dot_row(key, written, n_.F)) - double(dot_row(key, read, n_.F)) -
                       double(dot_row(query, read + queries, n_.F));
        continue;
      }
      for (std::size_t f = 0; f < w; ++f)
        passing_[f] += double(key[f] * (written[f] - read[f]) - query[f] * read[queries + f]);
    }
  }

  void pass_on(const Place& place, std::size_t t, OtherGradients& out) const {
    const std::size_t w = in_.fading.width;
    real* own = in_.fading.by_token ? out.rate.data() + in_.token(place, t) * w : nullptr;
    double* shared = own ? nullptr : out.shared.data() + (place.b * n_.H + place.h) * w;
    for (std::size_t c = 0; c < w; ++c) {
      if (own)
        own[c] = real(-passing_[c]);
      else
        shared[c] -= passing_[c];
    }
  }

  void store(const Place& place, DeltaChunk& chunk) {
    const std::size_t size = chunk.rows * n_.F;
    for (std::size_t i = 0; i < size; ++i) gradient_[i] += written_gradient_[i];
    from_unit_length(2 * chunk.rows, n_.F, chunk.lengths, chunk.units, gradient_);
    for (real* x : {gradient_, gradient_ + size, chunk.units, chunk.units + size})
      if (in_.reverse) reverse_rows(chunk.rows, n_.F, x);
    in_.k->store(place, chunk.units, gradient_, nullptr);
    in_.q->store(place, chunk.units + size, gradient_ + size, nullptr);
  }

  double* passing_;         // (width)
  real* later_;             // (F, d): gradient of the state that later tokens read
  real* gradient_;          // (2 C, F): of keys and queries
  real* written_gradient_;  // (C, F): of keys as they are written
  real* slopes_;            // (2 C, C)
  real* own_slope_;         // (C): diagonal of the query slopes
  real* readings_;          // (2 C, d): gradients of what keys and queries read
  real* slope_;             // (C, d)
  std::vector<DeltaChunk> chunks_;
};

/// Runs `task(head)` for every head of every sequence, in parallel.
}  // namespace

Tensor run_forward(const Inputs& in, bool keep_states, Tensor& out) {
  const Sizes& n = in.n;
  Tensor states = uninitialized({n.B, n.H, keep_states ? segments_of(in) : 0, n.F, n.d});
  each_part<DeltaForward>(in, in.n.B * in.n.H, [&](DeltaForward& head) {
    head.run(keep_states ? states.data() : nullptr, out.data());
  });
  return states;
}

void run_backward(const Inputs& in, const Tensor& states, const Tensor& g,
                  OtherGradients& gradients) {
  each_part<DeltaBackward>(in, in.n.B * in.n.H, [&](DeltaBackward& head) {
    head.run(states.data(), g.data(), gradients);
  });
}

}  // namespace delta_rule_parts
}  // namespace bochner::inline BOCHNER_PRECISION
