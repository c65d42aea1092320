#include <bochner/autodiff/ops/delta_rule_parts.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace delta_rule_parts {

void to_unit_length(std::size_t rows, std::size_t F, real* x, real* length) {
  constexpr real tiny = std::numeric_limits<real>::min() * 1024;
  for (std::size_t i = 0; i < rows; ++i, x += F) {
    const real square = dot_row(x, x, F);
    length[i] = square > tiny ? std::sqrt(square) : real(0);
    const real factor = square > tiny ? 1 / length[i] : real(0);
    for (std::size_t f = 0; f < F; ++f) x[f] *= factor;
  }
}

namespace {

/// The adjoint of to_unit_length(), in place: rows become what they were, and so do gradients.
void from_unit_length(std::size_t rows, std::size_t F, const real* length, real* x,
                      real* gradient) {
  for (std::size_t i = 0; i < rows; ++i, x += F, gradient += F) {
    const real along = dot_row(x, gradient, F);
    const real factor = length[i] > 0 ? 1 / length[i] : real(0);
    for (std::size_t f = 0; f < F; ++f) {
      gradient[f] = factor * (gradient[f] - along * x[f]);
      x[f] *= length[i];
    }
  }
}

void scale_rows(std::size_t rows, std::size_t columns, const real* factor, real* x) {
  for (std::size_t i = 0; i < rows; ++i, x += columns) {
    for (std::size_t j = 0; j < columns; ++j) x[j] *= factor[i];
  }
}

/// Rows (n) in the other order.
void reverse_rows(std::size_t rows, std::size_t n, real* x) {
  for (std::size_t i = 0; i < rows / 2; ++i)
    std::swap_ranges(x + i * n, x + (i + 1) * n, x + (rows - 1 - i) * n);
}

/// Rows (F) times factors of each row, or of each element where `width` is F.
void scale_channels(std::size_t rows, std::size_t F, std::size_t width, const real* factor,
                    real* x) {
  if (width == 1) return scale_rows(rows, F, factor, x);
  for (std::size_t i = 0; i < rows * F; ++i) x[i] *= factor[i];
}

inline void subtract_row(real factor, const real* from, std::size_t n, real* __restrict to) {
  for (std::size_t e = 0; e < n; ++e) to[e] -= factor * from[e];
}

/// Tokens in the order in which they are written, their features and what they see of each other
/// and of the state before. Keys are the first `rows` rows of `units`, and queries follow.
struct DeltaChunk {
  std::size_t rows = 0;
  real* units;           // (2 C, F): features of unit length
  real* lengths;         // (2 C): that they had
  real* left;            // (C, width): of the state and its channels, by each token
  real *passed, *carry;  // (C, width): of the state before, by all up to a token; by all behind it
  real *reading, *writing;  // (2 C, F), (C, F): units times what has passed; keys times carry
  real* kept;               // (C, C): left at token i of what j <= i wrote, else 0, if width is 1
  real* seen;               // (2 C, C): kept_ij key_i . key_j for j < i, kept_ij query_i . key_j
  real* state;              // (F, d): before the chunk
  real *errors, *written;   // (C, d): what was to be corrected, and strength times it
  real* passing;            // (F)

  DeltaChunk(const Inputs& in, Arena& arena) {
    const Sizes& n = in.n;
    arena.take(2 * n.C * n.F, units);
    arena.take(2 * n.C * n.C, seen);
    arena.take(n.C * n.C, kept);
    arena.take(n.state(), state);
    arena.take(n.C * n.d, errors, written);
    arena.take(2 * n.C, lengths);
    arena.take(n.C * in.fading.width, left, passed, carry);
    arena.take(n.F, passing);
    reading = writing = units;
    if (!in.fading.rate) return;
    arena.take(2 * n.C * n.F, reading);
    arena.take(n.C * n.F, writing);
  }

  const real* seen_by_queries(const Sizes& n) const { return seen + rows * n.C; }
  ChannelPairs pairs(const Sizes& n) const { return {rows, n.F, n.C, units, left, passing}; }

  void load(const Inputs& in, const Place& place) {
    const Sizes& n = in.n;
    rows = place.rows;
    in.k->load(place, units, nullptr);
    in.q->load(place, units + rows * n.F, nullptr);
    if (in.reverse) {
      reverse_rows(rows, n.F, units);
      reverse_rows(rows, n.F, units + rows * n.F);
    }
    to_unit_length(2 * rows, n.F, units, lengths);
    if (in.fading.rate) fade(in, place);
    see(in);
  }

  /// The gradient of pairs that per-head rates weigh, and keys that do not see themselves.
  void weigh_pairs(const Inputs& in, real* pairs) const {
    for (std::size_t i = 0; i < 2 * rows; ++i) {
      real* row = pairs + i * in.n.C;
      const real* weight = kept + i % rows * in.n.C;
      for (std::size_t j = 0; j < rows; ++j) row[j] = weight[j] > 0 ? weight[j] * row[j] : real(0);
      if (i < rows) row[i] = 0;
    }
  }

  /// seen and the state before give what each token corrects. `past` (2 C, d): what keys, and
  /// queries if wanted, read there.
  void write(const Inputs& in, const Place& place, bool for_queries, real* past) {
    const Sizes& n = in.n;
    gemm((for_queries ? 2 : 1) * rows, n.d, n.F, {reading, n.F}, {state, n.d}, 0, past, n.d);
    for (std::size_t i = 0; i < rows; ++i) {
      const real* v = in.v + in.token(place, i) * n.d;
      for (std::size_t e = 0; e < n.d; ++e) errors[i * n.d + e] = v[e] - past[i * n.d + e];
    }
    for (std::size_t j = 0; j < rows; ++j) {
      const real strength = in.strength[in.token(place, j)];
      real* correction = written + j * n.d;
      for (std::size_t e = 0; e < n.d; ++e) correction[e] = strength * errors[j * n.d + e];
      for (std::size_t i = j + 1; i < rows; ++i)
        subtract_row(seen[i * n.C + j], correction, n.d, errors + i * n.d);
    }
  }

  /// to (F, d) = what is left of it + sum_j writing_j written_j
  void add_to(const Inputs& in, real* to) const {
    add_product(in, {writing, in.n.F, transposed}, rows, written, to);
  }
  /// to = what is left of it + sum_i reading_i x_i, of keys and queries.
  void add_readings(const Inputs& in, const real* x, real* to) const {
    add_product(in, {reading, in.n.F, transposed}, 2 * rows, x, to);
  }

 private:
  void add_product(const Inputs& in, const Operand& features, std::size_t count, const real* x,
                   real* to) const {
    const Sizes& n = in.n;
    const real* keep = passed + (rows - 1) * in.fading.width;
    const bool by_channel = in.fading.rate && in.fading.width > 1;
    if (by_channel) scale_rows(n.F, n.d, keep, to);
    const real factor = in.fading.rate && !by_channel ? *keep : real(1);
    gemm(n.F, n.d, count, features, {x, n.d}, factor, to, n.d);
  }

  /// By products of what single tokens leave: differences of sums of rates would lose digits behind
  /// a long gap.
  void fade(const Inputs& in, const Place& place) {
    const std::size_t w = in.fading.width, F = in.n.F;
    for (std::size_t i = 0; i < rows; ++i) {
      const real* rate = in.rates(place, i);
      for (std::size_t f = 0; f < w; ++f) {
        left[i * w + f] = math::exp(-rate[f]);
        passed[i * w + f] = faded(i > 0 ? passed[(i - 1) * w + f] : real(1), left[i * w + f]);
      }
    }
    for (std::size_t i = rows; i-- > 0;) {
      for (std::size_t f = 0; f < w; ++f)
        carry[i * w + f] =
            i + 1 < rows ? faded(carry[(i + 1) * w + f], left[(i + 1) * w + f]) : real(1);
    }
    std::copy_n(units, 2 * rows * F, reading);
    std::copy_n(units, rows * F, writing);
    scale_channels(rows, F, w, passed, reading);
    scale_channels(rows, F, w, passed, reading + rows * F);
    scale_channels(rows, F, w, carry, writing);
  }

  void see(const Inputs& in) {
    const Sizes& n = in.n;
    if (in.fading.rate && in.fading.width > 1) return pairs(n).see(seen);
    for (std::size_t i = 0; i < rows; ++i) {
      real* row = kept + i * n.C;
      const real* before = kept + (i > 0 ? i - 1 : 0) * n.C;
      for (std::size_t j = 0; j < i; ++j)
        row[j] = in.fading.rate ? faded(before[j], left[i]) : real(1);
      row[i] = 1;
      std::fill(row + i + 1, row + rows, real(0));
    }
    gemm(2 * rows, rows, n.F, {units, n.F}, {units, n.F, transposed}, 0, seen, n.C);
    weigh_pairs(in, seen);
  }
};

/// Chunks that the backward pass holds at once: half a megabyte in float.
std::size_t chunks_of_segment(const Inputs& in) {
  constexpr std::size_t elements = 131072;
  return 1 + elements / scratch_size<DeltaChunk>(in);
}
std::size_t segments_of(const Inputs& in) {
  const std::size_t size = chunks_of_segment(in);
  return (in.n.chunks() + size - 1) / size;
}

/// One head of one sequence.
class DeltaHead {
 protected:
  DeltaHead(const Inputs& in, std::size_t index)
      : in_(in), n_(in.n), b_(index / n_.H), h_(index % n_.H), segment_(chunks_of_segment(in)) {}

  std::size_t length() const { return in_.lengths.empty() ? n_.T : in_.lengths[b_]; }
  std::size_t chunks() const { return (length() + n_.C - 1) / n_.C; }
  /// In the order in which tokens are written.
  Place place(std::size_t chunk) const {
    const std::size_t first = chunk * n_.C, rows = std::min(n_.C, length() - first);
    return {b_, h_, in_.reverse ? length() - first - rows : first, rows};
  }
  std::size_t segment_offset(std::size_t segment) const {
    return ((b_ * n_.H + h_) * segments_of(in_) + segment) * n_.state();
  }
  void prefetch(const Place& place) const {
    in_.k->prefetch(place);
    in_.q->prefetch(place);
    prefetch_values(in_.v, place);
  }
  void prefetch_values(const real* x, const Place& place) const {
    const std::size_t first = (place.b * n_.T + place.first) * n_.H + place.h;
    linear_attention_parts::prefetch_rows(x + first * n_.d, place.rows, n_.H * n_.d, n_.d);
  }

  const Inputs& in_;
  const Sizes& n_;
  std::size_t b_, h_;
  std::size_t segment_;  // its chunks
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
      const Place now = place(c);
      if (c % segment_ == 0)
        std::copy_n(chunk_.state, n_.state(), states + segment_offset(c / segment_));
      if (c + 1 < chunks()) prefetch(place(c + 1));
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

/// Segments and their chunks in reverse order.
class DeltaBackward : DeltaHead {
 public:
  DeltaBackward(const Inputs& in, std::size_t index, Arena& arena) : DeltaHead(in, index) {
    arena.take(n_.state(), later_);
    arena.take(2 * n_.C * n_.F, gradient_);
    arena.take(n_.C * n_.F, written_gradient_);
    arena.take(2 * n_.C * n_.C, slopes_);
    arena.take(2 * n_.C * n_.d, readings_);
    arena.take(n_.C * n_.d, slope_);
    for (std::size_t c = 0; c < std::min(segment_, n_.chunks()); ++c)
      chunks_.emplace_back(in, arena);
  }

  void run(const real* states, const real* g, OtherGradients& out) {
    std::fill_n(later_, n_.state(), real(0));
    for (std::size_t segment = (chunks() + segment_ - 1) / segment_; segment-- > 0;) {
      const std::size_t first = segment * segment_, last = std::min(chunks(), first + segment_);
      load_segment(states + segment_offset(segment), first, last);
      for (std::size_t c = last; c-- > first;) {
        const Place now = place(c);
        if (c > first) prefetch_values(g, place(c - 1));
        differentiate(now, chunks_[c - first], g, out);
      }
    }
  }

 private:
  /// All of each chunk, and the state before it.
  void load_segment(const real* state, std::size_t first, std::size_t last) {
    std::copy_n(state, n_.state(), chunks_[0].state);
    for (std::size_t c = first; c < last; ++c) {
      DeltaChunk& chunk = chunks_[c - first];
      if (c + 1 < last) prefetch(place(c + 1));
      chunk.load(in_, place(c));
      chunk.write(in_, place(c), false, readings_);
      if (c + 1 == last) return;
      real* next = chunks_[c + 1 - first].state;
      std::copy_n(chunk.state, n_.state(), next);
      chunk.add_to(in_, next);
    }
  }

  void differentiate(const Place& place, DeltaChunk& chunk, const real* g, OtherGradients& out) {
    const std::size_t rows = chunk.rows;
    for (std::size_t i = 0; i < rows; ++i)
      std::copy_n(g + in_.token(place, i) * n_.d, n_.d, readings_ + (rows + i) * n_.d);
    differentiate_written(chunk);
    substitute(place, chunk, out);
    differentiate_features(chunk);
    chunk.add_readings(in_, readings_, later_);
    if (in_.fading.rate) differentiate_rates(place, chunk, out);
    store(place, chunk);
  }

  /// slope = the gradient of what was written, which queries and later chunks read.
  void differentiate_written(const DeltaChunk& chunk) {
    const std::size_t rows = chunk.rows;
    gemm(rows, n_.d, n_.F, {chunk.writing, n_.F}, {later_, n_.d}, 0, slope_, n_.d);
    gemm(rows, n_.d, rows, {chunk.seen_by_queries(n_), n_.C, transposed},
         {readings_ + rows * n_.d, n_.d}, 1, slope_, n_.d);
  }

  /// From the last token to the first: slope becomes the gradient of strength errors, and that of
  /// the errors, which is the one of values, goes to the first half of readings with its sign
  /// turned: what keys read enters the errors so.
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
        subtract_row(chunk.seen[j * n_.C + i], value, n_.d, slope_ + i * n_.d);
    }
  }

  /// Of what reads, keys and queries, and of keys that are written.
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
    if (in_.fading.rate && w > 1)
      return chunk.pairs(n_).differentiate(slopes_, gradient_, written_gradient_);
    chunk.weigh_pairs(in_, slopes_);
    gemm(2 * rows, n_.F, rows, {slopes_, n_.C}, {chunk.units, n_.F}, 1, gradient_, n_.F);
    gemm(rows, n_.F, 2 * rows, {slopes_, n_.C, transposed}, {chunk.units, n_.F}, 1,
         written_gradient_, n_.F);
  }

  /// `passing`: the derivative with respect to the logarithm of what passes from before token t to
  /// t and beyond; that of the rate is its negative. At the first token all of it comes from the
  /// state; then comes what the token wrote, and what it read ends there.
  void differentiate_rates(const Place& place, const DeltaChunk& chunk, OtherGradients& out) {
    const std::size_t w = in_.fading.width, each = n_.F / w;
    for (std::size_t c = 0; c < w; ++c) {
      const std::size_t first = c * each;
      double passing = dot_row(later_ + first * n_.d, chunk.state + first * n_.d, each * n_.d);
      for (std::size_t t = 0; t < chunk.rows; ++t) {
        if (in_.fading.by_token)
          out.rate.data()[in_.token(place, t) * w + c] = real(-passing);
        else
          out.shared[(place.b * n_.H + place.h) * w + c] -= passing;
        const std::size_t key = t * n_.F + first, query = key + chunk.rows * n_.F;
        passing += double(dot_row(chunk.units + key, written_gradient_ + key, each)) -
                   double(dot_row(chunk.units + key, gradient_ + key, each)) -
                   double(dot_row(chunk.units + query, gradient_ + query, each));
      }
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

  real* later_;             // (F, d): gradient of the state that later tokens read
  real* gradient_;          // (2 C, F): of keys and queries
  real* written_gradient_;  // (C, F): of keys as they are written
  real* slopes_;            // (2 C, C)
  real* readings_;          // (2 C, d): gradients of what keys and queries read
  real* slope_;             // (C, d)
  std::vector<DeltaChunk> chunks_;
};

/// Runs `task(head)` for every head of every sequence, in parallel.
template <class Head, class Task>
void for_each_delta_head(const Inputs& in, const Task& task) {
  Scratch<real> scratch(scratch_size<Head>(in, 0));
  parallel_tasks(in.n.B * in.n.H, [&](std::size_t index) {
    Arena arena(scratch.local());
    Head head(in, index, arena);
    task(head);
  });
}

}  // namespace

void run_forward(const Inputs& in, Tensor& states, Tensor& out) {
  states = uninitialized({in.n.B, in.n.H, segments_of(in), in.n.F, in.n.d});
  for_each_delta_head<DeltaForward>(
      in, [&](DeltaForward& head) { head.run(states.data(), out.data()); });
}

void run_backward(const Inputs& in, const Tensor& states, const Tensor& g,
                  OtherGradients& gradients) {
  for_each_delta_head<DeltaBackward>(
      in, [&](DeltaBackward& head) { head.run(states.data(), g.data(), gradients); });
}

}  // namespace delta_rule_parts
}  // namespace bochner::inline BOCHNER_PRECISION
