#include <bochner/autodiff/compute/matrix_units.hpp>

#if defined(__AMX_BF16__) && defined(__AVX512F__) && !defined(BOCHNER_DOUBLE)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bochner/autodiff/compute/lane_transpose.hpp>
#include <bochner/autodiff/compute/register_tiles.hpp>
#include <cstdint>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// A tile holds 16 rows of 16 pairs of bfloat16: 32 inner elements of A's rows, or those of B's
/// columns. Elements p and p + 16 are a pair, so that both are made without shuffles.
constexpr std::size_t edge = 16, inner = 32, parts = 3;
constexpr std::size_t tile_size = edge * edge, step_size = parts * tile_size;  // of pairs
/// Inner elements whose parts are in the first caches.
constexpr std::size_t depth = 128;
/// Rows of A that read a tile of B.
constexpr std::size_t rows_at_once = 2 * edge;

typedef std::uint32_t Pairs __attribute__((vector_size(64), aligned(4), may_alias));

constexpr std::size_t steps_of(std::size_t K) { return (K + inner - 1) / inner; }
constexpr std::size_t tiles_of(std::size_t n) { return (n + edge - 1) / edge; }

/// x without what is nearest to it of bfloat16, whose bits are the upper half of `bits`.
inline NativeLanes take(NativeLanes x, Pairs& bits) {
  bits = Pairs(x) + 0x8000u;
  return x - NativeLanes(bits & 0xffff0000u);
}

/// One row of each part's tile, of elements p and p + 16: each part is what is nearest to the rest,
/// of which the last one leaves nothing.
inline void store_pairs(NativeLanes first, NativeLanes second, std::uint32_t* tiles) {
  const auto store = [&](std::size_t part, Pairs low, Pairs high) {
    *reinterpret_cast<Pairs*>(tiles + part * tile_size) = (low >> 16) | (high & 0xffff0000u);
  };
  for (std::size_t part = 0; part + 1 < parts; ++part) {
    Pairs low, high;
    first = take(first, low);
    second = take(second, high);
    store(part, low, high);
  }
  store(parts - 1, Pairs(first), Pairs(second));
}

/// Up to 32 rows and columns with zeros around them, where x ends before its tile.
struct Padded {
  alignas(64) real values[inner * inner] = {};
  Padded(std::size_t rows, std::size_t columns, const real* x, std::size_t ld) {
    for (std::size_t i = 0; i < rows; ++i) std::copy_n(x + i * ld, columns, values + i * inner);
  }
};

/// Tiles whose rows are those of x (16, 32).
void pack_along(const real* x, std::size_t ld, std::uint32_t* tiles) {
  for (std::size_t i = 0; i < edge; ++i, tiles += edge, x += ld)
    store_pairs(lanes_at(x), lanes_at(x + edge), tiles);
}

void pack_along(std::size_t rows, std::size_t count, const real* x, std::size_t ld,
                std::uint32_t* tiles) {
  if (rows == edge && count == inner) return pack_along(x, ld, tiles);
  pack_along(Padded(rows, count, x, ld).values, inner, tiles);
}

/// Tiles whose columns are those of x (32, 16).
void pack_across(const real* x, std::size_t ld, std::uint32_t* tiles) {
  for (std::size_t p = 0; p < edge; ++p, tiles += edge, x += ld)
    store_pairs(lanes_at(x), lanes_at(x + edge * ld), tiles);
}

void pack_across(std::size_t rows, std::size_t count, const real* x, std::size_t ld,
                 std::uint32_t* tiles) {
  if (rows == inner && count == edge) return pack_across(x, ld, tiles);
  pack_across(Padded(rows, count, x, ld).values, inner, tiles);
}

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

/// Tiles of 16 rows of x (n, K), all steps of the inner elements one after the other: as rows of A,
/// or as columns of B.
void pack_edge(std::size_t n, std::size_t K, const Operand& x, bool as_columns,
               std::uint32_t* tiles) {
  const bool lies_along = x.transpose == Transpose::no;
  for (std::size_t k = 0; k < K; k += inner, tiles += step_size) {
    const std::size_t count = std::min(inner, K - k);
    if (lies_along)
      pack_along(n, count, x.data + k, x.ld, tiles);
    else
      pack_across(count, n, x.data + k * x.ld, x.ld, tiles);
    if (lies_along == as_columns) transpose_tiles(tiles);
  }
}

/// Tiles 0 to 3 sum, two rows of them; 4 and 5 are of A, 6 and 7 of B.
template <std::size_t rows, std::size_t columns>
struct Registers {
  static void zero() {
    _tile_zero(0);
    if constexpr (columns > 1) _tile_zero(1);
    if constexpr (rows > 1) _tile_zero(2);
    if constexpr (rows > 1 && columns > 1) _tile_zero(3);
  }
  static void load_sums(const real* c, std::size_t ldc) {
    _tile_loadd(0, c, ldc * sizeof(real));
    if constexpr (columns > 1) _tile_loadd(1, c + edge, ldc * sizeof(real));
    if constexpr (rows > 1) _tile_loadd(2, c + edge * ldc, ldc * sizeof(real));
    if constexpr (rows > 1 && columns > 1)
      _tile_loadd(3, c + edge * ldc + edge, ldc * sizeof(real));
  }
  static void store_sums(real* c, std::size_t ldc) {
    _tile_stored(0, c, ldc * sizeof(real));
    if constexpr (columns > 1) _tile_stored(1, c + edge, ldc * sizeof(real));
    if constexpr (rows > 1) _tile_stored(2, c + edge * ldc, ldc * sizeof(real));
    if constexpr (rows > 1 && columns > 1)
      _tile_stored(3, c + edge * ldc + edge, ldc * sizeof(real));
  }
  static void load_a(const std::uint32_t* a, std::size_t next) {
    _tile_loadd(4, a, 64);
    if constexpr (rows > 1) _tile_loadd(5, a + next, 64);
  }
  static void load_b(const std::uint32_t* b, std::size_t next) {
    _tile_loadd(6, b, 64);
    if constexpr (columns > 1) _tile_loadd(7, b + next, 64);
  }
  static void add_products() {
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (columns > 1) _tile_dpbf16ps(1, 4, 7);
    if constexpr (rows > 1) _tile_dpbf16ps(2, 5, 6);
    if constexpr (rows > 1 && columns > 1) _tile_dpbf16ps(3, 5, 7);
  }
};

/// The compiler does not know that tiles read memory.
inline void finish_stores() { asm volatile("" : : : "memory"); }

/// C += A B of so many tiles; tiles of the next 16 rows or columns lie steps * step_size further.
template <std::size_t rows, std::size_t columns>
void multiply_tiles(std::size_t steps, const std::uint32_t* a, const std::uint32_t* b, bool adds,
                    real* c, std::size_t ldc) {
  using On = Registers<rows, columns>;
  constexpr std::size_t high = 0, middle = tile_size, low = 2 * tile_size;
  const std::size_t next = steps * step_size;
  finish_stores();
  if (adds)
    On::load_sums(c, ldc);
  else
    On::zero();
  for (std::size_t s = 0; s < steps; ++s, a += step_size, b += step_size) {
    On::load_a(a + high, next), On::load_b(b + high, next), On::add_products();
    On::load_b(b + middle, next), On::add_products();
    On::load_a(a + middle, next), On::add_products();
    On::load_b(b + high, next), On::add_products();
    On::load_a(a + low, next), On::add_products();
    On::load_a(a + high, next), On::load_b(b + low, next), On::add_products();
  }
  On::store_sums(c, ldc);
}

/// The same of a part of C, up to 32 rows and columns.
void multiply_part(std::size_t rows, std::size_t columns, std::size_t steps, const std::uint32_t* a,
                   const std::uint32_t* b, bool adds, real* c, std::size_t ldc) {
  alignas(64) real whole[rows_at_once * rows_at_once];
  const bool is_whole = rows % edge == 0 && columns % edge == 0;
  real* to = is_whole ? c : whole;
  const std::size_t ld = is_whole ? ldc : rows_at_once;
  if (!is_whole && adds) {
    for (std::size_t i = 0; i < rows; ++i) std::copy_n(c + i * ldc, columns, whole + i * ld);
  }
  const bool tall = rows > edge, wide = columns > edge;
  (tall ? (wide ? multiply_tiles<2, 2> : multiply_tiles<2, 1>)
        : (wide ? multiply_tiles<1, 2> : multiply_tiles<1, 1>))(steps, a, b, adds, to, ld);
  for (std::size_t i = 0; i < rows && !is_whole; ++i)
    std::copy_n(whole + i * ld, columns, c + i * ldc);
}

struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr TileShapes tile_shapes;

/// body(k, count) of parts of the inner elements.
template <class Body>
void for_each_depth(std::size_t K, const Body& body) {
  for (std::size_t k = 0; k < K; k += depth) body(k, std::min(depth, K - k));
}

/// All rows of x (n, K).
void pack_all(std::size_t n, std::size_t K, const Operand& x, bool as_columns, real* packed) {
  auto* tiles = reinterpret_cast<std::uint32_t*>(packed);
  for_each_depth(K, [&](std::size_t k, std::size_t count) {
    const Operand part = register_tiles::columns_from(k, x);
    for (std::size_t i = 0; i < n; i += edge, tiles += steps_of(count) * step_size)
      pack_edge(std::min(edge, n - i), count, register_tiles::rows_from(i, part), as_columns,
                tiles);
  });
}

void scale_rows(std::size_t M, std::size_t N, real factor, real* c, std::size_t ldc) {
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < N; ++j) c[i * ldc + j] *= factor;
  }
}

}  // namespace

bool has_matrix_units() {
  constexpr int request = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM
  static const bool found =
      __builtin_cpu_supports("avx512bw") && syscall(SYS_arch_prctl, request, tile_data) == 0;
  return found;
}

MatrixUnitsInUse::MatrixUnitsInUse(bool wanted) : wanted_(wanted) {
  if (wanted_) _tile_loadconfig(&tile_shapes);
}
MatrixUnitsInUse::~MatrixUnitsInUse() {
  if (wanted_) _tile_release();
}

std::size_t parts_size(std::size_t n, std::size_t K) {
  return tiles_of(n) * steps_of(K) * step_size;
}

void pack_left(std::size_t M, std::size_t K, const Operand& a, real* packed) {
  pack_all(M, K, a, false, packed);
}

void pack_right(std::size_t N, std::size_t K, const Operand& b, real* packed) {
  const Transpose flipped = b.transpose == transposed ? Transpose::no : transposed;
  pack_all(N, K, {b.data, b.ld, flipped}, true, packed);
}

void multiply_packed(std::size_t M, std::size_t N, std::size_t K, const real* left,
                     const real* right, real beta, real* c, std::size_t ldc) {
  const auto* a = reinterpret_cast<const std::uint32_t*>(left);
  const auto* b = reinterpret_cast<const std::uint32_t*>(right);
  for_each_depth(K, [&](std::size_t k, std::size_t count) {
    const std::size_t tile = steps_of(count) * step_size;
    for (std::size_t i = 0; i < M; i += rows_at_once) {
      for (std::size_t n = 0; n < N; n += rows_at_once)
        multiply_part(std::min(rows_at_once, M - i), std::min(rows_at_once, N - n), steps_of(count),
                      a + i / edge * tile, b + n / edge * tile, k > 0 || beta != 0, c + i * ldc + n,
                      ldc);
    }
    a += tiles_of(M) * tile, b += tiles_of(N) * tile;
  });
}

void multiply_by_packed(std::size_t M, std::size_t N, std::size_t K, const real* a, std::size_t lda,
                        const real* right, real beta, real* c, std::size_t ldc) {
  alignas(64) real left[2 * steps_of(depth) * step_size];
  if (beta != 0 && beta != 1) scale_rows(M, N, beta, c, ldc);
  const MatrixUnitsInUse in_use;
  for_each_depth(K, [&](std::size_t k, std::size_t count) {
    for (std::size_t i = 0; i < M; i += rows_at_once) {
      const std::size_t height = std::min(rows_at_once, M - i);
      pack_left(height, count, {a + i * lda + k, lda}, left);
      multiply_packed(height, N, count, left, right, real(k > 0 || beta != 0), c + i * ldc, ldc);
    }
    right += parts_size(N, count);
  });
}

bool is_matrix_unit_product(std::size_t M, std::size_t N, std::size_t K) {
  constexpr std::size_t fewest = 64;
  return std::min({M, N, K}) >= fewest && has_matrix_units();
}

void matrix_unit_product(std::size_t M, std::size_t N, std::size_t K, const Operand& a,
                         const Operand& b, real beta, real* c, std::size_t ldc) {
  using register_tiles::columns_from, register_tiles::rows_from;
  constexpr std::size_t most_rows = 256, size = steps_of(depth) * step_size;
  alignas(64) real left[most_rows / edge * size], right[2 * size];
  if (beta != 0 && beta != 1) scale_rows(M, N, beta, c, ldc);
  const MatrixUnitsInUse in_use;
  for_each_depth(K, [&](std::size_t k, std::size_t count) {
    for (std::size_t i = 0; i < M; i += most_rows) {
      const std::size_t height = std::min(most_rows, M - i);
      pack_left(height, count, rows_from(i, columns_from(k, a)), left);
      for (std::size_t n = 0; n < N; n += rows_at_once) {
        const std::size_t width = std::min(rows_at_once, N - n);
        pack_right(width, count, columns_from(n, rows_from(k, b)), right);
        multiply_packed(height, width, count, left, right, real(k > 0 || beta != 0),
                        c + i * ldc + n, ldc);
      }
    }
  });
}

}  // namespace bochner::inline BOCHNER_PRECISION
#else
namespace bochner::inline BOCHNER_PRECISION {

bool has_matrix_units() { return false; }
bool is_matrix_unit_product(std::size_t, std::size_t, std::size_t) { return false; }
MatrixUnitsInUse::MatrixUnitsInUse(bool wanted) : wanted_(wanted) {}
MatrixUnitsInUse::~MatrixUnitsInUse() = default;
std::size_t parts_size(std::size_t, std::size_t) { return 0; }
void pack_left(std::size_t, std::size_t, const Operand&, real*) {}
void pack_right(std::size_t, std::size_t, const Operand&, real*) {}
void multiply_packed(std::size_t, std::size_t, std::size_t, const real*, const real*, real, real*,
                     std::size_t) {}
void multiply_by_packed(std::size_t, std::size_t, std::size_t, const real*, std::size_t,
                        const real*, real, real*, std::size_t) {}
void matrix_unit_product(std::size_t, std::size_t, std::size_t, const Operand&, const Operand&,
                         real, real*, std::size_t) {}

}  // namespace bochner::inline BOCHNER_PRECISION
#endif
