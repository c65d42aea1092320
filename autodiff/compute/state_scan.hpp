#pragma once
/// The recurrence of linear attention with decays: a matrix that every token fades, writes to and
/// reads.

#include <bochner/autodiff/compute/lanes.hpp>
#include <bochner/base/ceil_div.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Numbers of token t begin at data + t stride; a stride of 0 gives all tokens the same.
struct TokenRows {
  const real* data;
  std::size_t stride;
};

/// S_t = decay_t o S_(t-1) + write_t x_t^T and y_t = S_t^T read_t, S (rows, width).
struct StateScan {
  std::size_t tokens, rows, width;  ///< the width in whole vectors of lanes
  bool backward;                    ///< from the last token to the first
  bool strict;                      ///< a token reads before it writes: y_t is of the others
  bool decays_rows;  ///< decay_t is of the rows of S, (rows); else of columns, (width)
  TokenRows decay, write, read, x;  ///< of (rows or width), (rows), (rows), (width) numbers
  real* y;                          ///< (tokens, width)
};

/// Goes on from `state` (rows, width) and leaves the last one there. A tile of the state stays in
/// registers for all tokens. Every y is one sum over rows in order: bits depend neither on where
/// tokens are cut into calls nor on the width of vectors.
void scan_states(const StateScan& tokens, real* state);

/// The same of several heads side by side in one vector: lanes (heads, n), a state of n rows, and
/// all factors of rows (heads, n) too, so that what is a number for a head is n equal lanes. For n
/// = 2, 4, 8 below the lanes of a vector, see heads_side_by_side().
void scan_side_by_side(const StateScan& tokens, real* state);

/// to_t = a_t . b_t of each of those heads of n numbers, in all its lanes. (tokens, lanes)
void dots_side_by_side(std::size_t tokens, std::size_t n, const TokenRows& a, const TokenRows& b,
                       real* to);

/// How many of H heads of F features and d values go into one vector there; 1 for
/// scan_states().
std::size_t heads_side_by_side(std::size_t H, std::size_t F, std::size_t d);

/// Whole vectors that hold n numbers.
constexpr std::size_t whole_lanes(std::size_t n) { return round_up(n, native_lane_count); }

}  // namespace bochner::inline BOCHNER_PRECISION
