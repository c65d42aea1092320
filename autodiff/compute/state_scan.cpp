#include <algorithm>
#include <bochner/autodiff/compute/state_scan.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

inline NativeLanes& state_lanes(real* x) { return *reinterpret_cast<NativeLanes*>(x); }
inline const NativeLanes& state_lanes(const real* x) {
  return *reinterpret_cast<const NativeLanes*>(x);
}

/// Rows and vectors of a register tile: its state fills half of the registers.
constexpr std::size_t most_rows = many_registers ? 8 : 4;
constexpr std::size_t most_vectors_of_state = 2;

template <bool decays_rows, bool strict>
struct Tiles {
  const StateScan& in;
  real* state;

  /// Rows and columns from these on, the state of which is in registers.
  template <std::size_t rows, std::size_t vectors>
  void tile(std::size_t row, std::size_t column) const {
    // Unrolled early, or the state stays an array in memory.
    NativeLanes s[rows * vectors];
    const auto place = [&](std::size_t n) -> NativeLanes& {
      return state_lanes(state + (row + n / vectors) * in.width + column +
                         n % vectors * native_lane_count);
    };
#pragma GCC unroll 32
    for (std::size_t n = 0; n < rows * vectors; ++n) s[n] = place(n);
    for (std::size_t token = 0; token < in.tokens; ++token) {
      const std::size_t t = in.backward ? in.tokens - 1 - token : token;
      const real* write = in.write.data + t * in.write.stride + row;
      const real* read = in.read.data + t * in.read.stride + row;
      const real* decay = in.decay.data + t * in.decay.stride + (decays_rows ? row : column);
      const real* from = in.x.data + t * in.x.stride + column;
      real* to = in.y + t * in.width + column;
      NativeLanes x[vectors], y[vectors], fade[vectors];
#pragma GCC unroll 8
      for (std::size_t v = 0; v < vectors; ++v) {
        x[v] = state_lanes(from + v * native_lane_count);
        y[v] = state_lanes(to + v * native_lane_count);
        if constexpr (!decays_rows) fade[v] = state_lanes(decay + v * native_lane_count);
      }
#pragma GCC unroll 32
      for (std::size_t n = 0; n < rows * vectors; ++n) {
        const std::size_t r = n / vectors, v = n % vectors;
        const NativeLanes keep = decays_rows ? all_lanes(decay[r]) : fade[v];
        const NativeLanes writes = all_lanes(write[r]), reads = all_lanes(read[r]);
        if constexpr (strict) {
          s[n] = keep * s[n];
          y[v] = fused_lanes(reads, s[n], y[v]);
          s[n] = fused_lanes(writes, x[v], s[n]);
        } else {
          s[n] = fused_lanes(keep, s[n], writes * x[v]);
          y[v] = fused_lanes(reads, s[n], y[v]);
        }
      }
#pragma GCC unroll 8
      for (std::size_t v = 0; v < vectors; ++v) state_lanes(to + v * native_lane_count) = y[v];
    }
#pragma GCC unroll 32
    for (std::size_t n = 0; n < rows * vectors; ++n) place(n) = s[n];
  }

  /// Rows from `row` on, in order; what is left goes to smaller tiles.
  template <std::size_t rows, std::size_t vectors>
  void row_tiles(std::size_t row, std::size_t column) const {
    for (; row + rows <= in.rows; row += rows) tile<rows, vectors>(row, column);
    if constexpr (rows > 1) row_tiles<rows / 2, vectors>(row, column);
  }

  void run() const {
    constexpr std::size_t two = most_vectors_of_state * native_lane_count;
    std::size_t column = 0;
    for (; column + two <= in.width; column += two) row_tiles<most_rows, 2>(0, column);
    if (column < in.width) row_tiles<2 * most_rows, 1>(0, column);
  }
};

}  // namespace

void scan(const StateScan& tokens, real* state) {
  std::fill_n(tokens.y, tokens.tokens * tokens.width, real(0));
  if (tokens.decays_rows) {
    tokens.strict ? Tiles<true, true>{tokens, state}.run()
                  : Tiles<true, false>{tokens, state}.run();
  } else {
    tokens.strict ? Tiles<false, true>{tokens, state}.run()
                  : Tiles<false, false>{tokens, state}.run();
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION
