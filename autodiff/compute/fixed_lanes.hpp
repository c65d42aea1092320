#pragma once
/// Vectors with a fixed number of lanes: results are bit-equal on every processor.

#include <algorithm>
#include <bochner/autodiff/compute/lanes.hpp>
#include <utility>

namespace bochner::inline BOCHNER_PRECISION::inline BOCHNER_LANES {

/// `lanes` numbers, a power of two, in as few native vectors as hold them.
template <class Number, std::size_t lanes>
struct FixedLanes {
  static constexpr std::size_t width = std::min(lanes, native_bytes / sizeof(Number));
  static constexpr std::size_t vectors = lanes / width;
  typedef Number Vector
      __attribute__((vector_size(width * sizeof(Number)), aligned(alignof(Number)), may_alias));

  Vector part[vectors];

  static FixedLanes filled(Number x) {
    return map([x](std::size_t) { return x - Vector{}; });
  }
  template <class From>
  static FixedLanes at(const From* x) {
    return map([x](std::size_t v) {
      Vector y = {};
#pragma GCC unroll 16
      for (std::size_t i = 0; i < width; ++i) y[i] = Number(x[v * width + i]);
      return y;
    });
  }
  /// Loads n elements, fewer than there are lanes, and sets the others to `filling`.
  template <class From>
  static FixedLanes first(const From* x, std::size_t n, From filling) {
    From all[lanes];
    for (int i = 0; i < int(lanes); ++i)
      all[i] = i < int(n) ? x[i] : filling;  // compiles to masked loads
    return at(all);
  }
  template <class Function>
  static FixedLanes map(const Function& f) {
    FixedLanes result;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < vectors; ++v) result.part[v] = f(v);
    return result;
  }
};

/// Reduces the lanes as a tree: halves, quarters, ...
template <std::size_t lanes, class Vector, class Join>
inline auto join_halves(Vector x, const Join& join) {
  if constexpr (lanes == 2) {
    return join(x[0], x[1]);
  } else {
    return [&]<int... lane>(std::integer_sequence<int, lane...>) {
      return join_halves<lanes / 2>(join(__builtin_shufflevector(x, x, lane...),
                                         __builtin_shufflevector(x, x, (int(lanes / 2) + lane)...)),
                                    join);
    }
    (std::make_integer_sequence<int, int(lanes / 2)>());
  }
}
template <class Number, std::size_t lanes, class Join>
inline auto join_parts(FixedLanes<Number, lanes> x, const Join& join) {
#pragma GCC unroll 16
  for (std::size_t left = FixedLanes<Number, lanes>::vectors / 2; left > 0; left /= 2) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < left; ++v) x.part[v] = join(x.part[v], x.part[v + left]);
  }
  return x.part[0];
}
template <class Number, std::size_t lanes, class Join>
inline Number join_lanes(const FixedLanes<Number, lanes>& x, const Join& join) {
  return join_halves<FixedLanes<Number, lanes>::width>(join_parts(x, join), join);
}

/// Joins the half of each lane group of x[r] and x[r + half] with the other half; the results
/// alternate in groups of `half` lanes.
template <int half, class Lanes, class Join, int... lane>
inline void join_halves_of_two(typename Lanes::Vector* x, const Join& join,
                               std::integer_sequence<int, lane...>) {
  constexpr int width = sizeof...(lane);
#pragma GCC unroll 8
  for (int r = 0; r < half; ++r) {
    const typename Lanes::Vector a = x[r], b = x[r + half];
    x[r] = join(
        __builtin_shufflevector(
            a, b, (lane / half % 2 * width + lane / half / 2 * 2 * half + lane % half)...),
        __builtin_shufflevector(
            a, b, (lane / half % 2 * width + lane / half / 2 * 2 * half + half + lane % half)...));
  }
  if constexpr (half > 1)
    join_halves_of_two<half / 2, Lanes>(x, join, std::integer_sequence<int, lane...>());
}
/// Writes join_lanes() of x[r] to lane r, for as many rows as a vector has lanes: three
/// instructions per row instead of a dozen dependent ones.
template <class Number, std::size_t lanes, class Join>
inline auto join_lanes_of_rows(const FixedLanes<Number, lanes>* x, const Join& join) {
  using Lanes = FixedLanes<Number, lanes>;
  constexpr int width = Lanes::width;
  typename Lanes::Vector row[width];
#pragma GCC unroll 16
  for (int r = 0; r < width; ++r) row[r] = join_parts(x[r], join);
  join_halves_of_two<width / 2, Lanes>(row, join, std::make_integer_sequence<int, width>());
  return row[0];
}

}  // namespace bochner::inline BOCHNER_PRECISION::inline BOCHNER_LANES
