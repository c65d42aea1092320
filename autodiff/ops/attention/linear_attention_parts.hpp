#pragma once
/// Internals of causal and bidirectional linear attention: features and weights of one chunk, and
/// the state that sums over chunks.

#include <bochner/autodiff/compute/arena.hpp>
#include <bochner/autodiff/compute/decay.hpp>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops/attention/linear_attention_sources.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/product_precision.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_parts {

struct Sizes {
  std::size_t B, T, H, F, d, C;
  std::size_t together = 1;            ///< heads whose chunks a task interleaves
  std::size_t span = std::size_t(-1);  ///< chunks after which sums restart
  std::size_t segment = 1;             ///< chunks that the backward pass holds at once
  std::size_t value_stride() const { return H * d; }
  std::size_t value_offset(const Place& place) const {
    return ((place.b * T + place.first) * H + place.h) * d;
  }
  std::size_t state() const { return (d + 1) * F; }
  std::size_t chunks() const { return ceil_div(T, C); }
  std::size_t spans() const { return spans_of(chunks()); }
  std::size_t spans_of(std::size_t chunks) const {
    return chunks <= span ? 1 : ceil_div(chunks, span);
  }
  std::size_t span_tokens() const { return std::min(chunks(), span) * C; }
  std::size_t segments_of_span() const { return ceil_div(std::min(chunks(), span), segment); }
};

/// Decay per token: exp(-rate) with rates per head (H), per token (B, T, H), or none.
struct Decay {
  const real* rate;
  bool by_token;
  std::size_t T, H;

  /// Computes time_j = sum of the rates from the first token of a place to its token j.
  void elapsed(const Place& place, double* time) const {
    double now = 0;
    for (std::size_t j = 0; j < place.rows; ++j) {
      if (rate)
        now +=
            bounded_rate(rate[by_token ? (place.b * T + place.first + j) * H + place.h : place.h]);
      time[j] = now;
    }
  }
};

struct Attention {
  Sizes n;
  std::unique_ptr<FeatureSource> q, k;
  const real* v;
  Decay decay;
  const std::vector<std::size_t>& lengths;
  real floor;
  const real* extra;  // (B, T, H, d + 1) or null
  real log_factor;    // of all feature products; matters only with an extra term
  bool logarithmic;   // features, which may underflow

  /// Returns the extra term of a place, means and log-sums; rows H (d + 1) apart.
  const real* extra_at(const Place& place) const {
    return extra + ((place.b * n.T + place.first) * n.H + place.h) * (n.d + 1);
  }
};

/// Returns 1 / x, or 1 / floor for x below a floor > 0. Without a floor, 0 where features
/// underflowed: such a row has zero output and gradient.
inline real safe_inverse(real x, real floor) {
  if (floor > 0) return 1 / (x < floor ? floor : x);
  constexpr real tiny = std::numeric_limits<real>::min() * 1024;
  return std::abs(x) < tiny ? real(0) : 1 / x;
}

/// Sums of weights below this, in units of the largest key and query feature, may have lost terms.
inline constexpr real least_sum = std::numeric_limits<real>::min() * real(1e20);

/// Throws std::underflow_error if underflow took a share of a query's sum of weights, whose unit is
/// exp(unit). Sums over masked keys, and of a masked query (F), may vanish.
void require_weights(real sum, double unit, const real* query, std::size_t F);

/// Returns the share of exp(log_extra) in its sum with `sum` >= 0 and sets `normalizer` to 1 / that
/// sum, or 0 if everything vanishes.
inline real extra_share(real log_extra, real sum, real* normalizer) {
  if (!(sum > 0)) {
    *normalizer = 0;
    return 1;
  }
  const real small = math::exp(-std::abs(log_extra));
  const real own = log_extra > 0 ? small : real(1), other = log_extra > 0 ? real(1) : small;
  const real factor = 1 / (own * sum + other);
  *normalizer = own * factor;
  return other * factor;
}

/// Computes to_i = factor_i (from_i, last_i): rows (d + 1) from rows (d). `last` null means ones.
inline void scale_and_extend(std::size_t rows, std::size_t d, const real* factor,
                             const real* __restrict from, std::size_t stride, const real* last,
                             real* __restrict to) {
  for (std::size_t i = 0; i < rows; ++i, from += stride, to += d + 1) {
    for (std::size_t e = 0; e < d; ++e) to[e] = factor[i] * from[e];
    to[d] = last ? factor[i] * last[i] : factor[i];
  }
}

/// Features and weights of one chunk of keys. Weights are relative to a reference that follows the
/// largest key so far and moves only when a key exceeds it by more than `slack`. So a chunk almost
/// always has one set of weights, no weight exceeds exp(slack), and no row depends on a later key,
/// not even by rounding. Logarithms include the time since the first token, which one long gap
/// makes huge: they are double, and only differences are narrowed.
struct Keys {
  static constexpr real slack = 16;
  std::size_t rows = 0;
  double *log_key, *time;  // (C): log weight and time of a key, at the first token
  double* reference;       // (C): reference (unit) of row i
  real* features;          // (C, F)
  real* past;              // (C): weight of the old state in the unit of row i
  real *carry, *weight;    // (C): weight of key j in the carried unit, and in a row of another unit
  real* lowest;            // (C): floor in the unit of row i
  real* extended;          // (C, d + 1): carry (v, 1)
  double carried = 0;      // unit of the new state
  real keep = 0;           // weight of the old state in the new one

  Keys(const Sizes& n, Arena& arena) {
    arena.take(n.C, log_key, time, reference, past, carry, weight, lowest);
    arena.take(n.C * n.F, features);
    arena.take(n.C * (n.d + 1), extended);
  }

  /// Loads keys. `unit` is that of the past state to which they are added; rows read it together
  /// with the state `before` it, in the larger of both units.
  void load(const Attention& in, const Place& place, double unit, double before = double(nothing)) {
    rows = place.rows;
    in.k->load(place, features, weight);
    in.decay.elapsed(place, time);
    double top = unit;
    for (std::size_t j = 0; j < rows; ++j) {
      log_key[j] = double(weight[j]) + time[j];
      if (log_key[j] > top + slack) top = log_key[j];
      reference[j] = std::max(top, before);
    }
    const double read = std::max(unit, before);
    for (std::size_t i = 0; i < rows; ++i) past[i] = math::exp(real(read - reference[i]));
    for (std::size_t i = 0; i < rows; ++i)
      lowest[i] = in.floor > 0 ? in.floor * math::exp(real(time[i] - reference[i])) : real(0);
    keep = math::exp(real(unit - top));
    carry_in(in, place, top);
  }

  /// Computes the weights for sums in units of exp(unit).
  void carry_in(const Attention& in, const Place& place, double unit) {
    carried = unit;
    weigh(unit, rows, carry);
    const std::size_t stride = in.n.value_stride();
    const real* v = in.v + in.n.value_offset(place);
    for (std::size_t i = 0; i < rows; ++i) place.prefetch_next(i, v + i * stride, stride, in.n.d);
    scale_and_extend(rows, in.n.d, carry, v, stride, nullptr, extended);
  }
  /// Returns the unit after the last row.
  double last() const { return reference[rows - 1]; }

  void weigh(double unit, std::size_t count, real* weights) const {
    for (std::size_t j = 0; j < count; ++j) weights[j] = math::exp(real(log_key[j] - unit));
  }

  /// Calls body(first, last, weights of keys) for the rows of each unit.
  template <class Body>
  void for_each_unit(const Body& body) const {
    for (std::size_t first = 0, last; first < rows; first = last) {
      last = first + 1;
      while (last < rows && reference[last] == reference[first]) ++last;
      const bool is_carried = reference[first] == carried;
      if (!is_carried) weigh(reference[first], last, weight);
      body(first, last, is_carried ? carry : weight);
    }
  }
};

/// Stores a double in the space of two reals, unaligned.
inline void save_double(double x, real* memory) { std::memcpy(memory, &x, sizeof x); }
inline double restore_double(const real* memory) {
  double x;
  std::memcpy(&x, memory, sizeof x);
  return x;
}

/// Sums over the past in units of exp(unit), transposed: rows 0 .. d - 1 are sums of v_e phi(k),
/// row d is the sum of phi(k).
struct State {
  real* sums;  // (d + 1, F)
  double unit = double(nothing);
  double passed = 0;  // time since clear()

  State(const Sizes& n, Arena& arena) { arena.take(n.state(), sums); }
  void clear(const Sizes& n) {
    std::fill_n(sums, n.state(), real(0));
    unit = double(nothing);
    passed = 0;
  }
  void save(const Sizes& n, real* memory) const {
    std::copy_n(sums, n.state(), memory);
    save_double(unit, memory + n.state());
    save_double(passed, memory + n.state() + 2);
  }
  void restore(const Sizes& n, const real* memory) {
    std::copy_n(memory, n.state(), sums);
    unit = restore_double(memory + n.state());
    passed = restore_double(memory + n.state() + 2);
  }
  const real* weights(const Sizes& n) const { return sums + n.d * n.F; }

  /// Computes this = keep this + sum_j carry_j (v_j, 1) phi(k_j).
  void add(const Sizes& n, const Keys& keys) {
    gemm(n.d + 1, n.F, keys.rows, {keys.extended, n.d + 1, transposed}, {keys.features, n.F},
         keys.keep, sums, n.F);
    unit = keys.carried - keys.time[keys.rows - 1];
    passed += keys.time[keys.rows - 1];
  }

  /// Computes this = own + before in the larger of both units; `own` starts after `before` ends.
  void join(const Sizes& n, const State& own, const State& before) {
    const double faded = before.unit - own.passed;
    unit = std::max(own.unit, faded);
    const real factor = math::exp(real(own.unit - unit)), keep = math::exp(real(faded - unit));
    for (std::size_t i = 0; i < n.state(); ++i)
      sums[i] = factor * own.sums[i] + keep * before.sums[i];
  }
};

/// Computes the gradients of numerators and denominators: numerator_i = g_i / den_i (C, d),
/// weight_i = -(g_i . y_i) / den_i (C), or 0 where the denominator is lowest_i > 0.
inline void split_quotient(const Sizes& n, const Place& place, const real* g, const real* y,
                           const real* normalizer, const real* lowest, real* numerator,
                           real* weight) {
  const std::size_t stride = n.value_stride();
  dot_each_row(place.rows, n.d, g, stride, y, stride, weight);
  for (std::size_t i = 0; i < place.rows; ++i) {
    place.prefetch_next(i, g + i * stride, stride, n.d);
    place.prefetch_next(i, y + i * stride, stride, n.d);
    const bool raised = lowest[i] > 0 && normalizer[i] == 1 / lowest[i];
    weight[i] = raised ? real(0) : -weight[i] * normalizer[i];
    const real* __restrict from = g + i * stride;
    real* __restrict to = numerator + i * n.d;
    const real factor = normalizer[i];
    for (std::size_t e = 0; e < n.d; ++e) to[e] = factor * from[e];
  }
}

/// What the backward pass keeps of the forward pass.
struct Memory {
  Tensor normalizer;    ///< (B, H, T): 1 / denominator
  Tensor share;         ///< (B, H, T), of the extra term
  Tensor past, lowest;  ///< (B, H, T) of Keys, if there are several spans
  /// (B, H, segments, state, its unit and time): sums of the span before each segment; at a span's
  /// first segment, of all that precedes it.
  Tensor states;
  /// (B, H, spans, state gradient and its decay): of all reads after each span.
  Tensor later;
  void allocate(const Sizes& n, std::size_t segments, bool extra = false) {
    const Shape tokens{n.B, n.H, n.T};
    normalizer = uninitialized(tokens);
    if (extra) share = uninitialized(tokens);
    if (n.spans() > 1) past = uninitialized(tokens), lowest = uninitialized(tokens);
    states = uninitialized({n.B, n.H, segments, n.state() + 4});
  }
};

/// Gradients of everything but the features, whose sources take theirs.
struct OtherGradients {
  Tensor v;                  ///< (B, T, H, d)
  std::vector<double> rate;  ///< (B, spans, H), (B, T, H) for rates per token, or empty
  Tensor extra;              ///< (B, T, H, d + 1), or empty
};

/// Chooses segments, and spans of about `tokens` tokens. 0 derives the spans from the sizes: a long
/// sequence is split if its heads are too few for the threads.
void cut_into_spans(Sizes& n, std::size_t tokens);

void attend_causally(const Attention& in, Memory& memory, Tensor& out);
void attend_causally_backward(const Attention& in, Memory& memory, const Tensor& y, const Tensor& g,
                              OtherGradients& gradients);
void attend_bidirectionally(const Attention& in, Memory& memory, Tensor& out);
void attend_bidirectionally_backward(const Attention& in, Memory& memory, const Tensor& y,
                                     const Tensor& g, OtherGradients& gradients);

/// One head of one sequence. Constructors take scratch memory and do not write to it.
class OneHead {
 protected:
  OneHead(const Attention& in, Memory& memory, std::size_t index)
      : in_(in), n_(in.n), memory_(memory), b_(index / n_.H), h_(index % n_.H) {}

  std::size_t length() const { return length_of(in_.lengths, b_, n_.T); }
  std::size_t chunks() const { return ceil_div(length(), n_.C); }
  Place place(std::size_t chunk) const {
    return {b_, h_, chunk * n_.C, std::min(n_.C, length() - chunk * n_.C)};
  }
  /// Returns the place of a chunk that prefetches `next`; pass the chunk itself for none.
  Place place(std::size_t chunk, std::size_t next) const {
    return place(chunk).before(place(next));
  }
  std::size_t spans() const { return n_.spans_of(chunks()); }
  std::size_t last_chunk(std::size_t span) const {
    return span + 1 < spans() ? (span + 1) * n_.span : chunks();
  }
  real* state_before(std::size_t span, std::size_t segment) {
    return &memory_.states(b_, h_, span * n_.segments_of_span() + segment, 0);
  }
  real* before(std::size_t span) { return state_before(span, 0); }
  /// Returns the state before a span, null for the first.
  const real* state_before(std::size_t span) { return span > 0 ? before(span) : nullptr; }
  real* normalizer(const Place& place) { return &memory_.normalizer(b_, h_, place.first); }
  real* share(const Place& place) { return &memory_.share(b_, h_, place.first); }
  real* past(const Place& place) { return &memory_.past(b_, h_, place.first); }
  real* lowest(const Place& place) { return &memory_.lowest(b_, h_, place.first); }

  const Attention& in_;
  const Sizes& n_;
  Memory& memory_;
  std::size_t b_, h_;
};

/// A head with scratch memory for the backward pass.
class HeadWithGradients : protected OneHead {
 protected:
  HeadWithGradients(const Attention& in, Memory& memory, std::size_t index, Arena& arena)
      : OneHead(in, memory, index) {
    arena.take(n_.state(), later_);
    arena.take(n_.C * n_.F, q_, gradient_);
    arena.take(n_.C * n_.d, numerator_);
    arena.take(n_.C * (n_.d + 1), extended_);
    arena.take(n_.C, weight_, slope_);
  }

  real* later_;            // (d + 1, F): gradient of the state that later tokens read
  real *q_, *gradient_;    // (C, F): query features; feature gradient
  real* numerator_;        // (C, d), of split_quotient()
  real* extended_;         // (C, d + 1): (numerator, weight)
  real *weight_, *slope_;  // (C): of split_quotient(); slope of keys
};

/// Interleaved heads of one sequence.
template <class Head>
struct Heads : std::vector<Head> {
  Heads(const Attention& in, Memory& memory, std::size_t index, Arena& arena) {
    this->reserve(in.n.together);
    for (std::size_t h = 0; h < in.n.together; ++h)
      this->emplace_back(in, memory, index * in.n.together + h, arena);
  }
};

/// Runs `task(heads, part)` for all parts of all heads of every sequence, in parallel.
template <class Head, class Task>
void for_each_part(const Attention& in, Memory& memory, std::size_t parts, const Task& task) {
  Scratch<real> scratch(scratch_size<Heads<Head>>(in, memory, 0));
  parallel_tasks(in.n.B * in.n.H / in.n.together * parts, [&](std::size_t index) {
    Arena arena(scratch.local());
    Heads<Head> heads(in, memory, index / parts, arena);
    task(heads, index % parts);
  });
}

/// Runs `task(heads)` for all heads of every sequence, in parallel.
template <class Head, class Task>
void for_each_head(const Attention& in, Memory& memory, const Task& task) {
  for_each_part<Head>(in, memory, 1, [&](Heads<Head>& heads, std::size_t) { task(heads); });
}

}  // namespace linear_attention_parts
}  // namespace bochner::inline BOCHNER_PRECISION
