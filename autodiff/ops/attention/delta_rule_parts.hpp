#pragma once
/// What the delta rule is made of: one chunk of tokens and the walks over chunks.

#include <bochner/autodiff/ops/attention/linear_attention_parts.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace delta_rule_parts {

using linear_attention_parts::FeatureSource;
using linear_attention_parts::Place;

struct Sizes {
  std::size_t B, T, H, F, d, C;
  std::size_t state() const { return F * d; }
  /// Chunks of the longest sequence.
  std::size_t chunks() const { return ceil_div(T, C); }
};

/// Rates of a head (H), of its channels (H, F), or of each token (B, T, H), (B, T, H, F); null for
/// none.
struct Fading {
  const real* rate;
  bool by_token;
  std::size_t width;  ///< rates of a head: 1 or F
};

struct Inputs {
  Sizes n;
  std::unique_ptr<FeatureSource> q, k;
  const real *v, *strength;  // (B, T, H, d), (B, T, H)
  Fading fading;
  const std::vector<std::size_t>& lengths;
  bool reverse;

  /// Where token i of a place is in (B, T, H), in the order in which tokens are written.
  std::size_t token(const Place& place, std::size_t i) const {
    const std::size_t t = place.first + (reverse ? place.rows - 1 - i : i);
    return (place.b * n.T + t) * n.H + place.h;
  }
  const real* rates(const Place& place, std::size_t i) const {
    return fading.rate + (fading.by_token ? token(place, i) : place.h) * fading.width;
  }
};

/// Gradients of everything but the features, which go to their sources.
struct OtherGradients {
  Tensor v, strength;          ///< (B, T, H, d), (B, T, H)
  Tensor rate;                 ///< of each token, or empty
  std::vector<double> shared;  ///< of rates that tokens share: (B, H) or (B, H, F)
};

/// x factor, and 0 for next to nothing, since denormal numbers are slow.
inline real faded(real x, real factor) {
  constexpr real nothing = std::numeric_limits<real>::min() * 1024;
  return x * factor < nothing && x * factor > -nothing ? real(0) : x * factor;
}

/// The pairs of one chunk where every channel fades on its own: `left` (rows, F) is what a token
/// leaves of each channel.
struct ChannelPairs {
  std::size_t rows, F, C;
  const real* units;  ///< (2 rows, F): keys, queries
  const real* left;   ///< (rows, F)
  real* passing;      ///< (F): scratch

  /// (2 rows, C): sum_f unit_if left_(j+1)f .. left_if key_jf, 0 for keys i <= j and queries i < j.
  void see(real* seen) const;
  /// Adds the gradients of units that read (2 rows, F) and of keys that are written (rows, F), for
  /// slopes of what is seen, which are heeded where that is not 0 by definition.
  void differentiate(const real* slopes, real* reading, real* writing) const;
};

/// Rows (F) divided by their lengths, which are kept; rows of next to nothing become zeros.
void to_unit_length(std::size_t rows, std::size_t F, real* x, real* length);
/// The adjoint, in place: rows become what they were, and so do gradients.
void from_unit_length(std::size_t rows, std::size_t F, const real* length, real* x, real* gradient);

inline void scale_rows(std::size_t rows, std::size_t columns, const real* factor, real* x) {
  for (std::size_t i = 0; i < rows; ++i, x += columns) {
    for (std::size_t j = 0; j < columns; ++j) x[j] *= factor[i];
  }
}

/// to -= factor from, (n).
inline void subtract_row(real factor, const real* from, std::size_t n, real* __restrict to) {
  for (std::size_t e = 0; e < n; ++e) to[e] -= factor * from[e];
}

/// Rows (n) in the other order.
inline void reverse_rows(std::size_t rows, std::size_t n, real* x) {
  for (std::size_t i = 0; i < rows / 2; ++i)
    std::swap_ranges(x + i * n, x + (i + 1) * n, x + (rows - 1 - i) * n);
}

/// Rows (F) times factors of each row, or of each element where `width` is F.
inline void scale_channels(std::size_t rows, std::size_t F, std::size_t width, const real* factor,
                           real* x) {
  if (width == 1) return scale_rows(rows, F, factor, x);
  for (std::size_t i = 0; i < rows * F; ++i) x[i] *= factor[i];
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

  DeltaChunk(const Inputs& in, Arena& arena);
  const real* seen_by_queries(const Sizes& n) const { return seen + rows * n.C; }
  ChannelPairs pairs(const Sizes& n) const { return {rows, n.F, n.C, units, left, passing}; }

  /// All but the state and what is written.
  void load(const Inputs& in, const Place& place);
  /// Products of pairs (2 rows, C) times what is left, where rates are those of heads; keys do not
  /// see themselves.
  void weigh_pairs(const Inputs& in, real* pairs) const;
  /// seen and the state before give what each token corrects. `past` (2 C, d): what keys, and
  /// queries if wanted, read there.
  void write(const Inputs& in, const Place& place, bool for_queries, real* past);
  /// to (F, d) = what is left of it + sum_j writing_j written_j
  void add_to(const Inputs& in, real* to) const;
  /// to = what is left of it + sum_i reading_i x_i, of keys and queries.
  void add_readings(const Inputs& in, const real* x, real* to) const;

 private:
  void add_product(const Inputs& in, const Operand& features, std::size_t count, const real* x,
                   real* to) const;
  void fade(const Inputs& in, const Place& place);
  void see(const Inputs& in);
};

/// What the backward pass starts its segments from, if it is kept: (B, H, segments, F, d).
Tensor run_forward(const Inputs& in, bool keep_states, Tensor& out);
void run_backward(const Inputs& in, const Tensor& states, const Tensor& g,
                  OtherGradients& gradients);

}  // namespace delta_rule_parts
}  // namespace bochner::inline BOCHNER_PRECISION
