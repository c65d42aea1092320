#pragma once
/// Internals of the delta rule: one chunk of tokens, and the iterations over chunks.

#include <bochner/autodiff/ops/attention/linear_attention_parts.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace delta_rule_parts {

using linear_attention_parts::FeatureSource;
using linear_attention_parts::Place;

struct Sizes {
  std::size_t B, T, H, F, d, C;
  std::size_t state() const { return F * d; }
  std::size_t chunks() const { return ceil_div(T, C); }
};

/// Rates per head (H), per channel (H, F), or per token (B, T, H), (B, T, H, F); null for none.
struct Fading {
  const real* rate;
  bool by_token;
  std::size_t width;  ///< rates per head: 1 or F
};

struct Inputs {
  Sizes n;
  std::unique_ptr<FeatureSource> q, k;
  const real *v, *strength;  // (B, T, H, d), (B, T, H)
  Fading fading;
  const std::vector<std::size_t>& lengths;
  bool reverse;

  /// Returns the index of token i of a place in (B, T, H), in write order.
  std::size_t token(const Place& place, std::size_t i) const {
    const std::size_t t = place.first + (reverse ? place.rows - 1 - i : i);
    return (place.b * n.T + t) * n.H + place.h;
  }
  const real* rates(const Place& place, std::size_t i) const {
    return fading.rate + (fading.by_token ? token(place, i) : place.h) * fading.width;
  }
};

/// Gradients of everything but the features, whose sources take theirs.
struct OtherGradients {
  Tensor v, strength;          ///< (B, T, H, d), (B, T, H)
  Tensor rate;                 ///< per token, or empty
  std::vector<double> shared;  ///< of rates shared by tokens: (B, H) or (B, H, F)
};

/// Returns x * factor, flushed to 0 when tiny: denormal numbers are slow.
inline real faded(real x, real factor) {
  constexpr real nothing = std::numeric_limits<real>::min() * 1024;
  return x * factor < nothing && x * factor > -nothing ? real(0) : x * factor;
}

/// Key and query pairs of a chunk with channel rates. `left` (rows, F): decay at each token.
struct ChannelPairs {
  std::size_t rows, F, C;
  const real* units;  ///< (2 rows, F): keys, queries
  const real* left;   ///< (rows, F)
  real* passing;      ///< (F): scratch

  /// Computes (2 rows, C): sum_f unit_if left_(j+1)f .. left_if key_jf; 0 for keys i <= j, queries
  /// i < j.
  void find_scores(real* scores) const;
  /// Adds the gradients of reading units (2 rows, F) and of written keys (rows, F) for the slopes
  /// of the scores; slopes of scores that are 0 by definition are ignored.
  void differentiate(const real* slopes, real* reading, real* writing) const;
};

/// Divides rows (F) by their lengths and stores these; tiny rows become zero.
void to_unit_length(std::size_t rows, std::size_t F, real* x, real* length);
/// Applies the adjoint in place: restores rows and their gradients to the original scale.
void from_unit_length(std::size_t rows, std::size_t F, const real* length, real* x, real* gradient);

inline void scale_rows(std::size_t rows, std::size_t columns, const real* factor, real* x) {
  for (std::size_t i = 0; i < rows; ++i, x += columns) {
    for (std::size_t j = 0; j < columns; ++j) x[j] *= factor[i];
  }
}

/// Computes to -= factor from, (n).
inline void subtract_row(real factor, const real* from, std::size_t n, real* __restrict to) {
  for (std::size_t e = 0; e < n; ++e) to[e] -= factor * from[e];
}

inline void reverse_rows(std::size_t rows, std::size_t n, real* x) {
  for (std::size_t i = 0; i < rows / 2; ++i)
    std::swap_ranges(x + i * n, x + (i + 1) * n, x + (rows - 1 - i) * n);
}

/// Scales rows (F) by a factor per row, or per element if `width` is F.
inline void scale_channels(std::size_t rows, std::size_t F, std::size_t width, const real* factor,
                           real* x) {
  if (width == 1) return scale_rows(rows, F, factor, x);
  for (std::size_t i = 0; i < rows * F; ++i) x[i] *= factor[i];
}

/// A chunk of tokens in write order: their features, pairwise scores, and reads of the previous
/// state. Keys are the first `rows` rows of `units`; queries follow.
struct DeltaChunk {
  std::size_t rows = 0;
  real* units;              // (2 C, F): features at unit length
  real* lengths;            // (2 C): original lengths
  real* left;               // (C, width): decay of the state and its channels at each token
  real *passed, *carry;     // (C, width): decay of the previous state up to a token; decay from a
                            // token to the end
  real *reading, *writing;  // (2 C, F), (C, F): units times passed; keys times carry
  real* retained;           // (C, C): decay from write j to token i >= j, else 0; if width is 1
  real* scores;  // (2 C, C): retained_ij key_i . key_j for j < i, retained_ij query_i . key_j
  real* state;   // (F, d): before the chunk
  real *errors, *written;  // (C, d): errors to correct, and strength times them
  real* passing;           // (F)

  DeltaChunk(const Inputs& in, Arena& arena);
  const real* seen_by_queries(const Sizes& n) const { return scores + rows * n.C; }
  ChannelPairs pairs(const Sizes& n) const { return {rows, n.F, n.C, units, left, passing}; }

  /// Loads all but the state and the written values.
  void load(const Inputs& in, const Place& place);
  /// Multiplies products of pairs (2 rows, C) by head decays; keys do not see themselves.
  void weigh_pairs(const Inputs& in, real* pairs) const;
  /// Solves for the errors that each token corrects. `past` (2 C, d): what keys, and queries if
  /// wanted, read from the previous state.
  void write(const Inputs& in, const Place& place, bool for_queries, real* past);
  /// Computes to (F, d) = decayed to + sum_j writing_j written_j.
  void add_to(const Inputs& in, real* to) const;
  /// Computes to = decayed to + sum_i reading_i x_i, over keys and queries.
  void add_readings(const Inputs& in, const real* x, real* to) const;

 private:
  void add_product(const Inputs& in, const Operand& features, std::size_t count, const real* x,
                   real* to) const;
  void fade(const Inputs& in, const Place& place);
  void find_scores(const Inputs& in);
};

/// Runs the forward pass; returns the segments' first states if kept: (B, H, segments, F, d).
Tensor run_forward(const Inputs& in, bool keep_states, Tensor& out);
void run_backward(const Inputs& in, const Tensor& states, const Tensor& g,
                  OtherGradients& gradients);

}  // namespace delta_rule_parts
}  // namespace bochner::inline BOCHNER_PRECISION
