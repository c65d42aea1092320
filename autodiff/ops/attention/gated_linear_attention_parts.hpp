#pragma once
/// Internals of gated linear attention: iteration over the tokens of a head, or over some columns
/// of its state if there are fewer heads than threads.

#include <algorithm>
#include <bochner/autodiff/compute/arena.hpp>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/state_scan.hpp>
#include <bochner/autodiff/ops/attention/gated_linear_attention.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <utility>

namespace bochner::inline BOCHNER_PRECISION {
namespace gated_parts {

/// Tokens after which the gradient sums of decays restart from a stored state: rounding errors
/// never decay in those sums and soon exceed the terms of a fast channel.
inline constexpr std::size_t restart_interval = 1024;

struct GatedAttention {
  std::size_t B, T, H, F, d, chunk;
  const real *q, *k, *v, *log_decay;
  bool by_token;        ///< decays are (B, T, H, F)
  bool decays_learned;  ///< decays need a gradient
  std::size_t heads;    ///< heads per task: several if they are small
  const GatedLinearAttentionOptions& options;

  GatedAttention(const Var& q, const Var& k, const Var& v, const Var& log_decay,
                 const GatedLinearAttentionOptions& options)
      : B(v.dim(0)),
        T(v.dim(1)),
        H(v.dim(2)),
        F(q.dim(3)),
        d(v.dim(3)),
        chunk(std::max<std::size_t>(1, std::min({options.chunk, T, restart_interval}))),
        q(q.data()),
        k(k.data()),
        v(v.data()),
        log_decay(log_decay.data()),
        by_token(log_decay.rank() == 4),
        decays_learned(log_decay.needs_gradient()),
        heads(heads_side_by_side(H, F, d)),
        options(options) {}

  std::size_t longest() const { return whole_lanes(std::max(F, d)); }
  std::size_t tasks() const { return B * (H / heads); }
};

/// Columns of the state or of its transpose, which are independent of each other.
struct GatedColumns {
  std::size_t first = 0, count = 0;
};
struct GatedPart {
  GatedColumns features, values;
};

/// Returns pieces of whole vectors of `n` columns, one per idle thread; bits do not change.
inline std::vector<GatedColumns> pieces_of(const GatedAttention& in, std::size_t n) {
  const std::size_t tasks = std::max<std::size_t>(1, in.tasks());
  const std::size_t wanted = in.heads > 1 ? 1 : ceil_div(thread_count(), tasks);
  const std::size_t vectors = whole_lanes(n) / native_lane_count;
  const std::size_t size = ceil_div(vectors, wanted) * native_lane_count;
  std::vector<GatedColumns> pieces;
  for (std::size_t first = 0; first < n; first += size)
    pieces.push_back({first, std::min(size, n - first)});
  return pieces;
}

/// Some columns of one head of one sequence, or several heads side by side.
class GatedHead {
 public:
  GatedHead(const GatedAttention& in, std::size_t index, const GatedPart& part, Arena& arena)
      : in_(in),
        part_(part),
        b_(index / (in.H / in.heads)),
        h_(index % (in.H / in.heads) * in.heads),
        length_(length_of(in.options.lengths, b_, in.T)),
        channels_(in.heads * in.F),
        decay_width_(whole_lanes(channels_)) {
    arena.take(in.chunk * decay_width_, decay_);
    arena.take(in.chunk * in.longest(), x_, y_);
    arena.take(in.F * whole_lanes(part.values.count), by_feature_);
  }

  void run(real* out) {
    std::fill_n(by_feature_, in_.F * whole_lanes(part_.values.count), real(0));
    each_chunk(in_.options.reverse, [&](const Chunk& now) {
      load_decays(now, 0);
      values(now, in_.k, in_.q, in_.v, out);
    });
  }

 protected:
  struct Chunk {
    std::size_t first, tokens;
    bool backward;

    std::size_t token(std::size_t i) const { return first + (backward ? tokens - 1 - i : i); }
  };

  /// Calls body(chunk) for every chunk; chunks end where sums restart.
  template <class Body>
  void each_chunk(bool backward, const Body& body) const {
    const std::size_t chunks = ceil_div(restart_interval, in_.chunk);
    const std::size_t all = ceil_div(length_, restart_interval) * chunks;
    for (std::size_t i = 0; i < all; ++i) {
      const std::size_t n = backward ? all - 1 - i : i, within = n % chunks * in_.chunk;
      const std::size_t first = n / chunks * restart_interval + within;
      const std::size_t most = std::min(in_.chunk, restart_interval - within);
      if (first < length_) body(Chunk{first, std::min(most, length_ - first), backward});
    }
  }

  /// Returns the offset of this head's numbers of a token in an array (B, T, H, n).
  std::size_t at(std::size_t token, std::size_t n) const {
    return ((b_ * in_.T + token) * in_.H + h_) * n;
  }
  TokenRows rows(const real* x, std::size_t first, std::size_t n) const {
    return {x + at(first, n), in_.H * n};
  }

  /// Loads exp(log_decay) of the tokens at offset `shift`, zero where there is no token.
  void load_decays(const Chunk& now, std::ptrdiff_t shift) {
    if (!in_.by_token) return load_decay(in_.log_decay + h_ * in_.F, decay_);
    for (std::size_t i = 0; i < now.tokens; ++i) {
      const std::size_t token =
          now.first + i + std::size_t(shift);  // -1 wraps to beyond the length
      if (token < length_) {
        load_decay(in_.log_decay + at(token, in_.F), decay_ + i * decay_width_);
      } else {
        std::fill_n(decay_ + i * decay_width_, decay_width_, real(0));
      }
    }
  }
  void load_decay(const real* log_decay, real* to) const {
    const GatedColumns all{0, channels_};
    const auto [first, count] = part_.values.count > 0 ? all : part_.features;
    for (std::size_t f = first; f < first + count; ++f) to[f] = math::exp(log_decay[f]);
    std::fill(to + channels_, to + decay_width_, real(0));
  }
  TokenRows fading() const { return {decay_, in_.by_token ? decay_width_ : 0}; }
  const real* decay_of(const Chunk& now, std::size_t token) const {
    return decay_ + (token - now.first) * fading().stride;
  }

  /// Describes the scan of a chunk over a state (F, d), or its transpose (d, F) if `decays_rows` is
  /// false. write, read (B, T, H, rows), x (B, T, H, width)
  StateScan scan_of(const Chunk& now, bool strict, bool decays_rows, const real* write,
                    const real* read, const real* x) const {
    const std::size_t count = decays_rows ? in_.F : in_.d, width = decays_rows ? in_.d : in_.F;
    const GatedColumns& columns = decays_rows ? part_.values : part_.features;
    TokenRows decay = fading(), from = rows(x, now.first, width);
    if (!decays_rows) decay.data += columns.first;
    from.data += columns.first;
    return {now.tokens,
            count,
            columns.count,
            now.backward,
            strict,
            decays_rows,
            decay,
            rows(write, now.first, count),
            rows(read, now.first, count),
            from,
            y_};
  }

  /// Computes out_t = S_t^T read_t over a state (F, d) that accumulates write_t x_t^T.
  void values(const Chunk& now, const real* write, const real* read, const real* x, real* out) {
    scan_rows(scan_of(now, in_.options.strict, true, write, read, x), now, out, by_feature_);
  }

  /// Runs `scan` with a width that need not be whole vectors, over rows of x and out.
  void scan_rows(StateScan scan, const Chunk& now, real* out, real* state) {
    if (in_.heads > 1) return scan_heads(scan, now, out, state);
    const std::size_t n = scan.width, row = scan.decays_rows ? in_.d : in_.F;
    const std::size_t first = (scan.decays_rows ? part_.values : part_.features).first;
    scan.width = whole_lanes(n);
    for (std::size_t i = 0; i < now.tokens; ++i) {
      std::copy_n(scan.x.data + i * scan.x.stride, n, x_ + i * scan.width);
      std::fill(x_ + i * scan.width + n, x_ + (i + 1) * scan.width, real(0));
    }
    scan.x = {x_, scan.width};
    scan_states(scan, state);
    for (std::size_t i = 0; i < now.tokens; ++i)
      std::copy_n(y_ + i * scan.width, n, out + at(now.first + i, row) + first);
  }

  /// Scans heads that fill a vector together, without packing.
  void scan_heads(StateScan scan, const Chunk& now, real* out, real* state) {
    const std::size_t n = std::exchange(scan.width, channels_);
    scan_side_by_side(scan, state);
    for (std::size_t i = 0; i < now.tokens; ++i)
      std::copy_n(y_ + i * channels_, channels_, out + at(now.first + i, n));
  }

  const GatedAttention& in_;
  GatedPart part_;
  std::size_t b_, h_, length_;
  std::size_t channels_, decay_width_;  // decays per head: F; the same in whole vectors
  real* decay_;                         // (chunk, decay_width)
  real *x_, *y_;                        // (chunk, F or d in whole vectors)
  real* by_feature_;                    // (F, values in whole vectors): the state
};

inline void add_products(const real* a, const real* b, std::size_t n, real* __restrict to) {
  for (std::size_t i = 0; i < n; ++i) to[i] += a[i] * b[i];
}

/// Backward pass of a head: a scan for query gradients, then a reverse one for k, v and decays.
class GatedHeadBack : GatedHead {
 public:
  GatedHeadBack(const GatedAttention& in, std::size_t index, const GatedPart& part, Arena& arena)
      : GatedHead(in, index, part, arena),
        count_(in.heads * part.features.count),
        width_(whole_lanes(count_)),
        state_size_(in.d * width_) {
    arena.take(state_size_, by_value_);
    arena.take(count_, passing_, total_);
    arena.take(in.decays_learned ? (in.T - 1) / restart_interval * state_size_ : 0, stored_);
  }

  /// Computes gradients in the inputs' shapes; of decays (B, T, H, F) or sums (B, H, F).
  void run(const real* g, real* dq, real* dk, real* dv, real* by_token, double* sums) {
    if (count_ > 0) run_queries(g, dq);
    std::fill_n(by_value_, state_size_, real(0));
    std::fill_n(by_feature_, in_.F * whole_lanes(part_.values.count), real(0));
    std::fill_n(passing_, count_, 0.0);
    std::fill_n(total_, count_, 0.0);
    each_chunk(!in_.options.reverse, [&](const Chunk& now) {
      load_decays(now, in_.options.reverse ? -1 : 1);
      if (count_ > 0) differentiate_features(now, g, dq, dk, by_token);
      if (part_.values.count > 0) values(now, in_.q, in_.k, g, dv);
    });
    if (!in_.decays_learned) return;
    const std::size_t first = part_.features.first;
    if (!in_.by_token) std::copy_n(total_, count_, sums + (b_ * in_.H + h_) * in_.F + first);
    if (in_.by_token && length_ > 0)  // nothing precedes the first token
      std::fill_n(by_token + at(in_.options.reverse ? length_ - 1 : 0, in_.F) + first, count_,
                  real(0));
  }

 private:
  void differentiate_features(const Chunk& now, const real* g, real* dq, real* dk, real* by_token) {
    if (in_.decays_learned) restart_sums(now);
    features(now, g, in_.v, in_.q, dk);
    if (in_.decays_learned) decays(now, dq, dk, by_token);
    if (!in_.options.strict) add_own(now, g, dq, dk);
  }

  void run_queries(const real* g, real* dq) {
    std::fill_n(by_value_, state_size_, real(0));
    each_chunk(in_.options.reverse, [&](const Chunk& now) {
      load_decays(now, 0);
      features(now, in_.v, g, in_.k, dq);
      if (real* stored = stored_at(now)) std::copy_n(by_value_, state_size_, stored);
    });
  }

  /// Returns where the state at the later side of the chunk is stored.
  real* stored_at(const Chunk& now) const {
    const std::size_t place = now.first + (in_.options.reverse ? 0 : now.tokens);
    const bool keeps = in_.decays_learned && place % restart_interval == 0 && place % length_ > 0;
    return keeps ? stored_ + (place / restart_interval - 1) * state_size_ : nullptr;
  }

  /// Does values() over the transposed state (d, F), without a token's own value: queries and keys
  /// would add the same term, and their difference would drown in its rounding.
  void features(const Chunk& now, const real* write, const real* read, const real* x, real* out) {
    scan_rows(scan_of(now, true, false, write, read, x), now, out, by_value_);
  }

  /// Restarts the sums from the gradient of a decay: decay S . A of the state before it and the
  /// gradient after it, which by_value_ holds before the chunk.
  void restart_sums(const Chunk& now) {
    const real *state = stored_at(now), *decay = decay_of(now, now.token(0)) + part_.features.first;
    if (!state) return;
    std::fill_n(passing_, count_, 0.0);
    for (std::size_t e = 0; e < in_.d; ++e) {
      for (std::size_t f = 0; f < count_; ++f)
        passing_[f] += double(state[e * width_ + f]) * double(by_value_[e * width_ + f]);
    }
    for (std::size_t f = 0; f < count_; ++f) passing_[f] *= double(decay[f]);
  }

  /// Computes the gradients of decays. With G_t the cumulative log decay, key j has weight exp(G_i
  /// - G_j) for query i: q_t dq_t - k_t dk_t is the derivative by G_t, and its sum from token t + 1
  /// on is that by the decay there. A decay of 0 passes nothing.
  void decays(const Chunk& now, const real* dq, const real* dk, real* out) {
    for (std::size_t i = 0; i < now.tokens; ++i) {
      const std::size_t t = now.token(i), later = now.backward ? t + 1 : t - 1;
      const std::size_t place = at(t, in_.F) + part_.features.first;
      const real *decay = decay_of(now, t) + part_.features.first, *q = in_.q + place,
                 *k = in_.k + place;
      for (std::size_t f = 0; f < count_; ++f) passing_[f] = decay[f] > 0 ? passing_[f] : 0;
      if (later < length_)
        emit_decay_gradient(out ? out + at(later, in_.F) + part_.features.first : nullptr);
      for (std::size_t f = 0; f < count_; ++f)
        passing_[f] += double(q[f]) * double(dq[place + f]) - double(k[f]) * double(dk[place + f]);
    }
  }

  void emit_decay_gradient(real* to) const {
    if (to) std::copy_n(passing_, count_, to);
    for (std::size_t f = 0; f < count_ && !to; ++f) total_[f] += passing_[f];
  }

  /// Adds a query's read of its own token, which features() left out.
  void add_own(const Chunk& now, const real* g, real* dq, real* dk) {
    find_own_scores(now, g);
    for (std::size_t i = 0; i < now.tokens; ++i) {
      const std::size_t place = at(now.first + i, in_.F) + part_.features.first;
      const real* seen = y_ + i * count_;
      add_products(seen, in_.k + place, count_, dq + place);
      add_products(seen, in_.q + place, count_, dk + place);
    }
  }

  /// Computes y_ = g_t . v_t per head, (tokens, channels).
  void find_own_scores(const Chunk& now, const real* g) {
    if (in_.heads > 1)
      return dots_side_by_side(now.tokens, in_.d, rows(g, now.first, in_.d),
                               rows(in_.v, now.first, in_.d), y_);
    for (std::size_t i = 0; i < now.tokens; ++i) {
      const std::size_t place = at(now.first + i, in_.d);
      std::fill_n(y_ + i * count_, count_, dot_row(g + place, in_.v + place, in_.d));
    }
  }

  std::size_t count_, width_;  // channels of the features; the same in whole vectors
  std::size_t state_size_;
  real* by_value_;            // (d, width): the transposed state
  double *passing_, *total_;  // (count)
  real* stored_;              // (T / restart_interval, d, width)
};

template <class Head, class Task>
void each_gated_part(const GatedAttention& in, const std::vector<GatedPart>& parts,
                     const Task& task) {
  Scratch<real> scratch(scratch_size<Head>(in, 0, GatedPart{{0, in.F}, {0, in.d}}));
  parallel_tasks(in.tasks() * parts.size(), [&](std::size_t index) {
    Arena arena(scratch.local());
    Head head(in, index / parts.size(), parts[index % parts.size()], arena);
    task(head);
  });
}

inline std::vector<GatedPart> forward_parts(const GatedAttention& in) {
  std::vector<GatedPart> parts;
  for (const GatedColumns& piece : pieces_of(in, in.d)) parts.push_back({{}, piece});
  return parts;
}

inline std::vector<GatedPart> backward_parts(const GatedAttention& in) {
  const auto features = pieces_of(in, in.F), values = pieces_of(in, in.d);
  if (features.size() <= 1 && values.size() <= 1) return {{{0, in.F}, {0, in.d}}};
  std::vector<GatedPart> parts;
  for (const GatedColumns& piece : features) parts.push_back({piece, {}});
  for (const GatedColumns& piece : values) parts.push_back({{}, piece});
  return parts;
}

}  // namespace gated_parts
}  // namespace bochner::inline BOCHNER_PRECISION
