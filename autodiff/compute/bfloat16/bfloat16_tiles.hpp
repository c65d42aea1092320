#pragma once
/// Packing of factors that are rounded to bfloat16, for register tiles. With AVX512-BF16, which
/// multiplies them at twice the rate of floats, an element E is a pair of bfloat16; elsewhere it is
/// a rounded float. Only for float.

#include <bochner/autodiff/compute/bfloat16/bfloat16.hpp>
#include <bochner/autodiff/compute/lane_transpose.hpp>
#include <bochner/autodiff/compute/register_tiles.hpp>
#include <bochner/base/processor/bfloat16_pairs.hpp>
#include <cstdint>
#include <type_traits>

namespace bochner::inline BOCHNER_PRECISION {
namespace register_tiles {

inline constexpr std::uint32_t upper_half = 0xffff0000;

/// Two bfloat16.
struct Pair {
  std::uint32_t bits;
};

template <class E>
inline constexpr bool is_pair = std::is_same_v<E, Pair>;

/// Inner elements p and p + width of a step form a pair, so that packing needs no shuffles.
inline constexpr std::size_t rounded_step = 2 * width;

/// Returns the packed elements of K inner ones; pairs are padded with zeros to whole steps.
template <class E>
constexpr std::size_t rounded_count(std::size_t K) {
  return is_pair<E> ? ceil_div(K, rounded_step) * width : K;
}

#ifdef BOCHNER_BFLOAT16_PAIRS

inline BitLanes& bits_at(Pair* x) { return *reinterpret_cast<BitLanes*>(x); }

inline BitLanes rounded_pairs(const real* first, const real* second) {
  return (rounded_bits(lanes_at(first)) >> 16) | (rounded_bits(lanes_at(second)) & upper_half);
}

/// Returns sum + the two products of each pair.
inline Vector added_product(Pair a, const Pair* b, Vector sum) {
  return added_pair_products(a.bits, b, sum);
}

/// Copies a part of a step and pads it with zeros.
template <std::size_t rows, std::size_t columns>
struct PaddedStep {
  alignas(64) real values[rows * columns] = {};
  PaddedStep(std::size_t height, std::size_t count, const real* x, std::size_t ld) {
    for (std::size_t i = 0; i < height; ++i) std::copy_n(x + i * ld, count, values + i * columns);
  }
};

/// Packs one row of K elements.
inline void round_row(std::size_t K, const real* x, Pair* to) {
  std::size_t k = 0;
  for (; k + rounded_step <= K; k += rounded_step, to += width)
    bits_at(to) = rounded_pairs(x + k, x + k + width);
  if (k == K) return;
  const PaddedStep<1, rounded_step> rest(1, K - k, x + k, 0);
  bits_at(to) = rounded_pairs(rest.values, rest.values + width);
}

/// Packs a step of `count` rows of x (., columns). Row p of `to`, `ldp` apart, holds the pairs of
/// rows p and p + width, padded with zeros to whole vectors.
inline void round_step(std::size_t count, std::size_t columns, const real* x, std::size_t ld,
                       Pair* to, std::size_t ldp) {
  const std::size_t whole = count == rounded_step ? columns / width * width : 0;
  for (std::size_t p = 0; p < width && whole > 0; ++p) {
    const real *first = x + p * ld, *second = first + width * ld;
    for (std::size_t j = 0; j < whole; j += width)
      bits_at(to + p * ldp + j) = rounded_pairs(first + j, second + j);
  }
  for (std::size_t j = whole; j < columns; j += width) {
    const PaddedStep<rounded_step, width> rest(count, std::min(width, columns - j), x + j, ld);
    for (std::size_t p = 0; p < width; ++p)
      bits_at(to + p * ldp + j) =
          rounded_pairs(rest.values + p * width, rest.values + (p + width) * width);
  }
}

/// Packs a step of `count` elements along `rows` rows of x, transposed: as round_step() does those
/// of the transposed rows.
inline void round_step_along(std::size_t count, std::size_t rows, const real* x, std::size_t ld,
                             Pair* to, std::size_t ldp) {
  for (std::size_t j = 0; j < rows; j += width) {
    const std::size_t height = std::min(width, rows - j);
    const bool whole = height == width && count == rounded_step;
    const PaddedStep<width, rounded_step> rest(whole ? 0 : height, count, x + j * ld, ld);
    const real* from = whole ? x + j * ld : rest.values;
    const std::size_t stride = whole ? ld : rounded_step;
    Vector lanes[width];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < width; ++i)
      lanes[i] = Vector(rounded_pairs(from + i * stride, from + i * stride + width));
    transpose_lanes(lanes);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < width; ++i) bits_at(to + i * ldp + j) = BitLanes(lanes[i]);
  }
}

/// Packs a panel of `columns`, of which B (K, .) has `count`.
inline void round_panel(std::size_t K, std::size_t count, std::size_t columns, const Operand& b,
                        Pair* panel) {
  for (std::size_t k = 0; k < K; k += rounded_step, panel += width * columns) {
    const std::size_t depth = std::min(rounded_step, K - k);
    if (b.transpose == transposed)
      round_step_along(depth, count, b.data + k, b.ld, panel, columns);
    else
      round_step(depth, count, b.data + k * b.ld, b.ld, panel, columns);
  }
}

/// Packs the transposed rows of A (M, K), side by side.
inline void round_columns(std::size_t M, std::size_t K, const Operand& a, Pair* to) {
  for (std::size_t k = 0; k < K; k += rounded_step, to += width * padded(M))
    round_step(std::min(rounded_step, K - k), M, a.data + k * a.ld, a.ld, to, padded(M));
}

#endif

/// Rounds n elements.
inline void round_row(std::size_t n, const real* x, real* to) {
  std::size_t i = 0;
  for (; i + width <= n; i += width)
    lanes_at(to + i) = Vector(rounded_bits(lanes_at(x + i)) & upper_half);
  if (i == n) return;
  Vector rest = {};
  for (std::size_t j = 0; i + j < n; ++j) rest[j] = x[i + j];
  rest = Vector(rounded_bits(rest) & upper_half);
  for (std::size_t j = 0; i + j < n; ++j) to[i + j] = rest[j];
}

inline void round_panel(std::size_t K, std::size_t count, std::size_t columns, const Operand& b,
                        real* panel) {
  pack_panel(K, count, columns, b, panel);
  round_row(K * columns, panel, panel);
}

inline void round_columns(std::size_t M, std::size_t K, const Operand& a, real* to) {
  for (std::size_t k = 0; k < K; ++k) round_row(M, a.data + k * a.ld, to + k * padded(M));
}

/// Packs B into consecutive panels, padded with zeros.
template <class E>
void round_right(std::size_t K, std::size_t N, const Operand& b, E* packed) {
  for (std::size_t first = 0, columns; first < N; first += columns) {
    columns = panel_columns(N - first);
    round_panel(K, std::min(columns, N - first), columns, columns_from(first, b), packed);
    packed += rounded_count<E>(K) * columns;
  }
}

/// Packs A (M, K) in the orientation that it has; `to` has space for padded(M) rows.
template <class E>
LeftFactor<E> round_left(std::size_t M, std::size_t K, const Operand& a, E* to) {
  if (a.transpose == transposed) {
    round_columns(M, K, a, to);
    return {to, padded(M), transposed};
  }
  for (std::size_t i = 0; i < M; ++i) round_row(K, a.data + i * a.ld, to + i * rounded_count<E>(K));
  return {to, rounded_count<E>(K), Transpose::no};
}

}  // namespace register_tiles
}  // namespace bochner::inline BOCHNER_PRECISION
