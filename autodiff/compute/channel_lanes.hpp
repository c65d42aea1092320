#pragma once
/// Sequences (B, T, D) with `row_lanes` channels in the lanes of a vector, so that recurrences
/// along time use plain vector instructions.

#include <algorithm>
#include <bochner/autodiff/compute/row_lanes.hpp>
#include <bochner/base/ceil_div.hpp>
#include <bochner/base/shape.hpp>
#include <cstring>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Loads up to `row_lanes` elements; the other lanes are zero.
inline RowLanes load_lanes(const real* x, std::size_t count) {
  if (count == row_lanes) return *reinterpret_cast<const RowLanes*>(x);
  RowLanes lanes{};
  std::memcpy(&lanes, x, count * sizeof(real));
  return lanes;
}
inline void store_lanes(RowLanes lanes, std::size_t count, real* y) {
  std::memcpy(y, &lanes, count * sizeof(real));
}

/// `count` channels from `first` on, at most row_lanes.
struct LaneGroup {
  std::size_t first, count;
};
inline std::size_t lane_groups(std::size_t D) { return ceil_div(D, row_lanes); }
inline LaneGroup lane_group(std::size_t D, std::size_t group) {
  return {group * row_lanes, std::min(row_lanes, D - group * row_lanes)};
}

/// Sizes of ragged sequences; tokens beyond a length do not exist.
struct ChannelSequences {
  std::size_t B, T, D;
  const std::vector<std::size_t>& lengths;  ///< (B), or empty for T

  std::size_t length(std::size_t b) const { return length_of(lengths, b, T); }
  /// Returns how many of the `count` tokens from `first` on exist in sequence b.
  std::size_t tokens_from(std::size_t first, std::size_t count, std::size_t b) const {
    return std::min(count, length(b) - std::min(first, length(b)));
  }
  /// Loads those tokens of a channel group, zero where they do not exist. x (B, T, D) -> (count)
  void load(const real* x, std::size_t b, LaneGroup group, std::size_t first, std::size_t count,
            RowLanes* to) const {
    const real* from = x + (b * T + first) * D + group.first;
    const std::size_t tokens = tokens_from(first, count, b);
    for (std::size_t t = 0; t < tokens; ++t) to[t] = load_lanes(from + t * D, group.count);
    clear_lanes(to + tokens, count - tokens);
  }
  void load(const real* x, std::size_t b, LaneGroup group, RowLanes* to) const {
    load(x, b, group, 0, T, to);
  }
  /// Stores y = from + beta y for those tokens, beta 0 or 1. (count) -> (B, T, D)
  void store(const RowLanes* from, std::size_t b, LaneGroup group, std::size_t first,
             std::size_t count, real beta, real* y) const {
    real* to = y + (b * T + first) * D + group.first;
    const std::size_t tokens = tokens_from(first, count, b);
    for (std::size_t t = 0; t < tokens; ++t) {
      const RowLanes before = beta == 0 ? RowLanes{} : load_lanes(to + t * D, group.count);
      store_lanes(from[t] + before, group.count, to + t * D);
    }
    for (std::size_t t = tokens; t < count && beta == 0; ++t)
      store_lanes(RowLanes{}, group.count, to + t * D);
  }
  void store(const RowLanes* from, std::size_t b, LaneGroup group, real beta, real* y) const {
    store(from, b, group, 0, T, beta, y);
  }
};

}  // namespace bochner::inline BOCHNER_PRECISION
