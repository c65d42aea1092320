#pragma once
/// Packing of floats into bfloat16 tiles, interleaved with products. Only for AMX processors.

#include <algorithm>
#include <bochner/autodiff/compute/bfloat16/bfloat16.hpp>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/lane_transpose.hpp>
#include <bochner/autodiff/compute/register_tiles.hpp>
#include <bochner/base/processor/amx_registers.hpp>
#include <cstdint>

namespace bochner::inline BOCHNER_PRECISION {
namespace unit_tiles {

/// A tile holds 16 rows of 16 pairs of bfloat16: 32 inner elements of rows of A or columns of B.
/// Elements p and p + 16 form a pair, so that both are made without shuffles.
using amx::edge;
inline constexpr std::size_t inner = 2 * edge;
inline constexpr std::size_t tile_size = edge * edge;  // in pairs
/// Factors are packed as three parts, or as one, their nearest bfloat16.
template <std::size_t parts>
inline constexpr std::size_t step_size = parts* tile_size;

using Pairs = BitLanes;

constexpr std::size_t steps_of(std::size_t K) { return ceil_div(K, inner); }
constexpr std::size_t tiles_of(std::size_t n) { return ceil_div(n, edge); }

/// Subtracts from x its nearest bfloat16, whose bits are the upper half of `bits`.
inline NativeLanes take(NativeLanes x, Pairs& bits) {
  bits = rounded_bits(x);
  return x - NativeLanes(bits & 0xffff0000u);
}

/// Stores one row of each part's tile, for elements p and p + 16. Each part is the bfloat16 nearest
/// to the remainder; the third leaves none.
template <std::size_t parts>
void store_pairs(NativeLanes first, NativeLanes second, std::uint32_t* tiles) {
  const auto store = [&](std::size_t part, Pairs low, Pairs high) {
    *reinterpret_cast<Pairs*>(tiles + part * tile_size) = (low >> 16) | (high & 0xffff0000u);
  };
  for (std::size_t part = 0; part + 1 < parts; ++part) {
    Pairs low, high;
    first = take(first, low);
    second = take(second, high);
    store(part, low, high);
  }
  if constexpr (parts == 1)
    store(0, rounded_bits(first), rounded_bits(second));
  else
    store(parts - 1, Pairs(first), Pairs(second));
}

/// Copies up to 32 rows and columns and pads with zeros, where x ends inside a tile.
struct Padded {
  alignas(64) real values[inner * inner] = {};
  Padded(std::size_t rows, std::size_t columns, const real* x, std::size_t ld) {
    for (std::size_t i = 0; i < rows; ++i) std::copy_n(x + i * ld, columns, values + i * inner);
  }
};

/// Packs tiles whose rows are the rows of x (16, 32) or, across, whose columns are those of x
/// (32, 16).
template <std::size_t parts, bool across>
void pack(std::size_t rows, std::size_t columns, const real* x, std::size_t ld,
          std::uint32_t* tiles) {
  constexpr std::size_t height = across ? inner : edge, width = across ? edge : inner;
  if (rows != height || columns != width)
    return pack<parts, across>(height, width, Padded(rows, columns, x, ld).values, inner, tiles);
  const std::size_t pair = across ? edge * ld : edge;
  for (std::size_t i = 0; i < edge; ++i, tiles += edge, x += ld)
    store_pairs<parts>(lanes_at(x), lanes_at(x + pair), tiles);
}

template <std::size_t parts>
void transpose_tiles(std::uint32_t* tiles) {
  for (std::size_t part = 0; part < parts; ++part, tiles += tile_size) {
    NativeLanes rows[edge];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < edge; ++i)
      rows[i] = *reinterpret_cast<const NativeLanes*>(tiles + i * edge);
    transpose_lanes(rows);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < edge; ++i)
      *reinterpret_cast<NativeLanes*>(tiles + i * edge) = rows[i];
  }
}

/// Packs all inner steps of 16 rows of x (n, K), as rows of A or as columns of B.
template <std::size_t parts>
void pack_edge(std::size_t n, std::size_t K, const Operand& x, bool as_columns,
               std::uint32_t* tiles) {
  const bool lies_along = x.transpose == Transpose::no;
  for (std::size_t k = 0; k < K; k += inner, tiles += step_size<parts>) {
    const std::size_t count = std::min(inner, K - k);
    if (lies_along)
      pack<parts, false>(n, count, x.data + k, x.ld, tiles);
    else
      pack<parts, true>(count, n, x.data + k * x.ld, x.ld, tiles);
    if (lies_along == as_columns) transpose_tiles<parts>(tiles);
  }
}

/// Packs n rows of x in consecutive tiles of 16.
template <std::size_t parts>
void pack_edges(std::size_t n, std::size_t K, const Operand& x, bool as_columns,
                std::uint32_t* tiles) {
  for (std::size_t i = 0; i < n; i += edge, tiles += steps_of(K) * step_size<parts>)
    pack_edge<parts>(std::min(edge, n - i), K, rows_from(i, x), as_columns, tiles);
}

/// Does pack_edges() one tile row at a time, in equal shares for a given number of calls: AMX
/// leaves the vector units idle, and a step of performer-lm takes 5 % less time if they pack the
/// next operand meanwhile. Operands with edges or transposed ones are packed at once.
template <std::size_t parts>
class InterleavedPacking {
 public:
  InterleavedPacking(std::size_t n, std::size_t K, const Operand& x, bool as_columns,
                     std::uint32_t* tiles, std::size_t calls)
      : x_(x), lies_along_(x.transpose == Transpose::no), steps_(K / inner), tiles_(tiles) {
    if (n % edge != 0 || K % inner != 0 || lies_along_ == as_columns) {
      pack_edges<parts>(n, K, x, as_columns, tiles);
      return;
    }
    rows_ = n * steps_;
    rows_per_call_ = ceil_div(rows_ << fraction, calls);
  }

  void operator()() {
    due_ += rows_per_call_;
    pack_until(std::min(rows_, due_ >> fraction));
  }
  void finish() { pack_until(rows_); }

 private:
  static constexpr unsigned fraction = 16;

  void pack_until(std::size_t end) {
    const std::size_t second = lies_along_ ? edge : edge * x_.ld;
    for (; row_ < end; ++row_, from_ += x_.ld, tiles_ += edge) {
      if (row_ % edge == 0) start(row_ / edge);
      store_pairs<parts>(lanes_at(from_), lanes_at(from_ + second), tiles_);
    }
  }
  void start(std::size_t tile) {
    const std::size_t i = tile / steps_ * edge, k = tile % steps_ * inner;
    from_ = x_.data + (lies_along_ ? i * x_.ld + k : k * x_.ld + i);
    if (tile > 0) tiles_ += step_size<parts> - tile_size;
  }

  Operand x_;
  bool lies_along_;
  std::size_t steps_, rows_ = 0, row_ = 0;  // in tiles
  std::size_t rows_per_call_ = 0, due_ = 0;
  const real* from_ = nullptr;
  std::uint32_t* tiles_;
};

}  // namespace unit_tiles
}  // namespace bochner::inline BOCHNER_PRECISION
