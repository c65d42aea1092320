#include <algorithm>
#include <bochner/autodiff/compute/state_scan.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Rows and vectors of a register tile; its state fills half of the registers.
constexpr std::size_t state_rows = many_registers ? 8 : 4;
constexpr std::size_t max_vectors_of_state = 2;

/// Updates a row of the state by one token (decay, write) and returns y plus what is read.
template <bool strict>
[[gnu::always_inline]] inline NativeLanes fold(NativeLanes keep, NativeLanes write, NativeLanes x,
                                               NativeLanes read, NativeLanes y, NativeLanes& s) {
  if constexpr (strict) {
    s = keep * s;
    y = fused_lanes(read, s, y);
    s = fused_lanes(write, x, s);
    return y;
  }
  s = fused_lanes(keep, s, write * x);
  return fused_lanes(read, s, y);
}

template <bool decays_rows, bool strict>
struct Tiles {
  const StateScan& in;
  real* state;

  /// Processes one token for a register tile of the state.
  template <std::size_t rows, std::size_t vectors>
  [[gnu::always_inline]] void pass(std::size_t t, std::size_t row, std::size_t column,
                                   NativeLanes* s) const {
    const real* write = in.write.data + t * in.write.stride + row;
    const real* read = in.read.data + t * in.read.stride + row;
    const real* decay = in.decay.data + t * in.decay.stride + (decays_rows ? row : column);
    const real* from = in.x.data + t * in.x.stride + column;
    real* to = in.y + t * in.width + column;
    NativeLanes x[vectors], y[vectors], fade[vectors];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < vectors; ++v) {
      x[v] = lanes_at(from + v * native_lane_count);
      y[v] = lanes_at(to + v * native_lane_count);
      if constexpr (!decays_rows) fade[v] = lanes_at(decay + v * native_lane_count);
    }
#pragma GCC unroll 32
    for (std::size_t n = 0; n < rows * vectors; ++n) {
      const std::size_t r = n / vectors, v = n % vectors;
      const NativeLanes keep = decays_rows ? all_lanes(decay[r]) : fade[v];
      y[v] = fold<strict>(keep, all_lanes(write[r]), x[v], all_lanes(read[r]), y[v], s[n]);
    }
#pragma GCC unroll 8
    for (std::size_t v = 0; v < vectors; ++v) lanes_at(to + v * native_lane_count) = y[v];
  }

  /// Processes all tokens for a register tile of the state.
  template <std::size_t rows, std::size_t vectors>
  void tile(std::size_t row, std::size_t column) const {
    // Unrolled early, or the state stays an array in memory.
    NativeLanes s[rows * vectors];
    const auto place = [&](std::size_t n) -> NativeLanes& {
      return lanes_at(state + (row + n / vectors) * in.width + column +
                      n % vectors * native_lane_count);
    };
#pragma GCC unroll 32
    for (std::size_t n = 0; n < rows * vectors; ++n) s[n] = place(n);
    for (std::size_t token = 0; token < in.tokens; ++token)
      pass<rows, vectors>(in.backward ? in.tokens - 1 - token : token, row, column, s);
#pragma GCC unroll 32
    for (std::size_t n = 0; n < rows * vectors; ++n) place(n) = s[n];
  }

  /// Processes the rows from `row` on, in order; smaller tiles take the remainder.
  template <std::size_t rows, std::size_t vectors>
  void row_tiles(std::size_t row, std::size_t column) const {
    for (; row + rows <= in.rows; row += rows) tile<rows, vectors>(row, column);
    if constexpr (rows > 1) row_tiles<rows / 2, vectors>(row, column);
  }

  void run() const {
    constexpr std::size_t two = max_vectors_of_state * native_lane_count;
    std::size_t column = 0;
    for (; column + two <= in.width; column += two) row_tiles<state_rows, 2>(0, column);
    if (column < in.width) row_tiles<2 * state_rows, 1>(0, column);
  }
};

constexpr std::make_integer_sequence<int, int(native_lane_count)> lane_sequence{};

/// Broadcasts lane r of each head to all lanes of the head.
template <int n, int r, int... lane>
inline NativeLanes spread(NativeLanes x, std::integer_sequence<int, lane...>) {
  return __builtin_shufflevector(x, x, (lane / n * n + r)...);
}
template <int n, int r>
inline NativeLanes spread(NativeLanes x) {
  return spread<n, r>(x, lane_sequence);
}

/// Returns the sum of the lanes of each head in all of them, as a tree like dot_row().
template <int n, int... lane>
inline NativeLanes sum_heads(NativeLanes x, std::integer_sequence<int, lane...> lanes) {
  if constexpr (n == 1) return x;
  if constexpr (n > 1)
    x = sum_heads<n / 2>(x + __builtin_shufflevector(x, x, (lane ^ n / 2)...), lanes);
  return x;
}

template <std::size_t n>
void dots(std::size_t tokens, const TokenRows& a, const TokenRows& b, real* to) {
  for (std::size_t t = 0; t < tokens; ++t)
    lanes_at(to + t * native_lane_count) = sum_heads<n>(
        lanes_at(a.data + t * a.stride) * lanes_at(b.data + t * b.stride), lane_sequence);
}

template <std::size_t n, bool decays_rows, bool strict>
void side_by_side(const StateScan& in, real* state) {
  NativeLanes s[n];
#pragma GCC unroll 8
  for (std::size_t r = 0; r < n; ++r) s[r] = lanes_at(state + r * native_lane_count);
  for (std::size_t token = 0; token < in.tokens; ++token) {
    const std::size_t t = in.backward ? in.tokens - 1 - token : token;
    const NativeLanes fade = lanes_at(in.decay.data + t * in.decay.stride);
    const NativeLanes write = lanes_at(in.write.data + t * in.write.stride);
    const NativeLanes read = lanes_at(in.read.data + t * in.read.stride);
    const NativeLanes x = lanes_at(in.x.data + t * in.x.stride);
    NativeLanes y = {};
    const auto add_row = [&]<int r>(std::integral_constant<int, r>) {
      const NativeLanes keep = decays_rows ? spread<n, r>(fade) : fade;
      y = fold<strict>(keep, spread<n, r>(write), x, spread<n, r>(read), y, s[r]);
    };
    [&]<int... r>(std::integer_sequence<int, r...>) {
      (add_row(std::integral_constant<int, r>()), ...);
    }
    (std::make_integer_sequence<int, int(n)>());
    lanes_at(in.y + t * in.width) = y;
  }
#pragma GCC unroll 8
  for (std::size_t r = 0; r < n; ++r) lanes_at(state + r * native_lane_count) = s[r];
}

template <std::size_t n>
void side_by_side(const StateScan& in, real* state) {
  if constexpr (n < native_lane_count) {
    if (in.decays_rows)
      in.strict ? side_by_side<n, true, true>(in, state) : side_by_side<n, true, false>(in, state);
    else
      in.strict ? side_by_side<n, false, true>(in, state)
                : side_by_side<n, false, false>(in, state);
  }
}

}  // namespace

std::size_t heads_side_by_side(std::size_t H, std::size_t F, std::size_t d) {
  const std::size_t heads = native_lane_count / std::max<std::size_t>(1, F);
  const bool fits = F == d && (F == 2 || F == 4 || F == 8) && heads > 1 && H % heads == 0;
  return fits ? heads : 1;
}

void scan_side_by_side(const StateScan& tokens, real* state) {
  if (tokens.rows == 2) return side_by_side<2>(tokens, state);
  if (tokens.rows == 4) return side_by_side<4>(tokens, state);
  side_by_side<8>(tokens, state);
}

void dots_side_by_side(std::size_t tokens, std::size_t n, const TokenRows& a, const TokenRows& b,
                       real* to) {
  if (n == 2) return dots<2>(tokens, a, b, to);
  if (n == 4) return dots<4>(tokens, a, b, to);
  dots<8>(tokens, a, b, to);
}

void scan_states(const StateScan& tokens, real* state) {
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
