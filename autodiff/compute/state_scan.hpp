#pragma once
/// The recurrence of decayed linear attention: each token decays, updates and reads a matrix state.

#include <bochner/autodiff/compute/lanes.hpp>
#include <bochner/base/ceil_div.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Numbers of token t are at data + t stride; stride 0 gives all tokens the same.
struct TokenRows {
  const real* data;
  std::size_t stride;
};

/// S_t = decay_t o S_(t-1) + write_t x_t^T and y_t = S_t^T read_t, S (rows, width).
struct StateScan {
  std::size_t tokens, rows, width;  ///< width in whole vectors of lanes
  bool backward;                    ///< from the last token to the first
  bool strict;                      ///< a token reads before it writes: y_t excludes its own write
  bool decays_rows;  ///< decay_t applies to rows of S, (rows); else to columns, (width)
  TokenRows decay, write, read, x;  ///< (rows or width), (rows), (rows), (width) numbers
  real* y;                          ///< (tokens, width)
};

/// Continues from `state` (rows, width) and leaves the last state there. A tile of the state stays
/// in registers for all tokens. Every y is one sum over rows in order: bits depend neither on how
/// tokens are split into calls nor on the vector width.
void scan_states(const StateScan& tokens, real* state);

/// Scans several heads side by side in one vector: lanes (heads, n), a state of n rows, and all row
/// factors (heads, n) too, so a scalar of a head is n equal lanes. For n = 2, 4, 8 below the lanes
/// of a vector; see heads_side_by_side().
void scan_side_by_side(const StateScan& tokens, real* state);

/// Computes to_t = a_t . b_t for each head of n numbers, in all its lanes. (tokens, lanes)
void dots_side_by_side(std::size_t tokens, std::size_t n, const TokenRows& a, const TokenRows& b,
                       real* to);

/// Returns how many of H heads (F features, d values) fit one vector; 1: use scan_states().
std::size_t heads_side_by_side(std::size_t H, std::size_t F, std::size_t d);

/// Rounds n up to whole vectors.
constexpr std::size_t whole_lanes(std::size_t n) { return round_up(n, native_lane_count); }

}  // namespace bochner::inline BOCHNER_PRECISION
