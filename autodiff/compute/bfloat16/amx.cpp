#include <bochner/autodiff/compute/bfloat16/amx.hpp>
#include <bochner/base/processor/amx_registers.hpp>

#if defined(BOCHNER_AMX) && !defined(BOCHNER_DOUBLE)
#include <bochner/autodiff/compute/bfloat16/amx_tiles.hpp>
#include <bochner/base/numeric/product_precision.hpp>
#include <bochner/base/processor/opaque.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using namespace unit_tiles;

/// Inner elements per pass, whose bfloat16 parts fit the first-level caches.
constexpr std::size_t depth = 128;
/// Rows of A multiplied per load of a tile of B.
constexpr std::size_t rows_at_once = 2 * edge;

struct NoInterleaving {
  void operator()() {}
};

/// Computes C += A B for rows x columns tiles and interleaves a piece of other work after every few
/// products. Tiles of the next 16 rows or columns are steps * step_size apart.
template <std::size_t parts, std::size_t rows, std::size_t columns, class Interleaved>
void multiply_tiles(std::size_t steps, const std::uint32_t* a, const std::uint32_t* b, bool adds,
                    real* c, std::size_t ldc, Interleaved&& interleaved) {
  using On = amx::Registers<rows, columns>;
  constexpr std::size_t high = 0, middle = tile_size, low = 2 * tile_size;
  const std::size_t next = steps * step_size<parts>;
  finish_stores();
  if (adds)
    On::load_sums(c, ldc);
  else
    On::zero();
  for (std::size_t s = 0; s < steps; ++s, a += step_size<parts>, b += step_size<parts>) {
    On::load_a(a + high, next), On::load_b(b + high, next), On::add_products(), interleaved();
    if constexpr (parts == 1) continue;
    On::load_b(b + middle, next), On::add_products(), interleaved();
    On::load_a(a + middle, next), On::add_products(), interleaved();
    On::load_b(b + high, next), On::add_products(), interleaved();
    On::load_a(a + low, next), On::add_products(), interleaved();
    On::load_a(a + high, next), On::load_b(b + low, next), On::add_products(), interleaved();
  }
  On::store_sums(c, ldc);
}

/// Computes C += A B for up to 32 rows and columns of C.
template <std::size_t parts, class Interleaved>
void multiply_part(std::size_t rows, std::size_t columns, std::size_t steps, const std::uint32_t* a,
                   const std::uint32_t* b, bool adds, real* c, std::size_t ldc,
                   Interleaved&& interleaved) {
  alignas(64) real whole[rows_at_once * rows_at_once];
  const bool is_whole = rows % edge == 0 && columns % edge == 0;
  real* to = is_whole ? c : whole;
  const std::size_t ld = is_whole ? ldc : rows_at_once;
  if (!is_whole && adds) {
    for (std::size_t i = 0; i < rows; ++i) std::copy_n(c + i * ldc, columns, whole + i * ld);
  }
  const bool tall = rows > edge, wide = columns > edge;
  (tall
       ? (wide ? multiply_tiles<parts, 2, 2, Interleaved>
               : multiply_tiles<parts, 2, 1, Interleaved>)
       : (wide ? multiply_tiles<parts, 1, 2, Interleaved>
               : multiply_tiles<parts, 1, 1, Interleaved>))(steps, a, b, adds, to, ld, interleaved);
  for (std::size_t i = 0; i < rows && !is_whole; ++i)
    std::copy_n(whole + i * ld, columns, c + i * ldc);
}

/// Returns how often multiply_tiles() calls the interleaved work during a whole product.
template <std::size_t parts>
constexpr std::size_t interleaved_calls(std::size_t M, std::size_t N, std::size_t K) {
  constexpr std::size_t products = parts == 1 ? 1 : 6;
  const auto at_once = [](std::size_t n) { return ceil_div(n, rows_at_once); };
  return products * steps_of(K) * at_once(M) * at_once(N);
}

/// Calls body(k, count) for consecutive parts of the inner elements.
template <class Body>
void for_each_depth(std::size_t K, const Body& body) {
  for (std::size_t k = 0; k < K; k += depth) body(k, std::min(depth, K - k));
}

std::uint32_t* pairs_at(real* parts) { return reinterpret_cast<std::uint32_t*>(parts); }
const std::uint32_t* pairs_at(const real* parts) {
  return reinterpret_cast<const std::uint32_t*>(parts);
}

/// Returns the size in pairs of the packed parts of n rows of K elements.
template <std::size_t parts>
std::size_t packed_size(std::size_t n, std::size_t K) {
  return tiles_of(n) * steps_of(K) * step_size<parts>;
}

template <std::size_t parts>
void pack_all(std::size_t n, std::size_t K, const Operand& x, bool as_columns, real* packed) {
  for_each_depth(K, [&](std::size_t k, std::size_t count) {
    pack_edges<parts>(n, count, columns_from(k, x), as_columns,
                      pairs_at(packed) + packed_size<parts>(n, k));
  });
}

Operand flipped(const Operand& x) {
  return {x.data, x.ld, x.transpose == transposed ? Transpose::no : transposed};
}

/// Computes C = A B or C += A B over one depth of inner elements.
template <std::size_t parts, class Interleaved>
void multiply_depth(std::size_t M, std::size_t N, std::size_t K, const std::uint32_t* a,
                    const std::uint32_t* b, bool adds, real* c, std::size_t ldc,
                    Interleaved&& interleaved) {
  const std::size_t tile = steps_of(K) * step_size<parts>;
  for (std::size_t i = 0; i < M; i += rows_at_once) {
    for (std::size_t n = 0; n < N; n += rows_at_once)
      multiply_part<parts>(std::min(rows_at_once, M - i), std::min(rows_at_once, N - n),
                           steps_of(K), a + i / edge * tile, b + n / edge * tile, adds,
                           c + i * ldc + n, ldc, interleaved);
  }
}

/// Up to 32 rows of A over one depth of inner elements.
struct Strip {
  std::size_t i = 0, height = 0, k = 0, count = 0;
};

/// Strips of A (M, K) in the order of multiplication: all rows of a depth before the next depth. An
/// empty strip follows the last one.
struct Strips {
  std::size_t M, K;
  std::size_t of_depth() const { return ceil_div(M, rows_at_once); }
  std::size_t size() const { return of_depth() * ceil_div(K, depth); }
  Strip operator[](std::size_t index) const {
    if (index >= size()) return {};
    const std::size_t i = index % of_depth() * rows_at_once, k = index / of_depth() * depth;
    return {i, std::min(rows_at_once, M - i), k, std::min(depth, K - k)};
  }
};

template <std::size_t parts>
void multiply_all(std::size_t M, std::size_t N, std::size_t K, const real* left, const real* right,
                  real beta, real* c, std::size_t ldc) {
  for_each_depth(K, [&](std::size_t k, std::size_t count) {
    multiply_depth<parts>(M, N, count, pairs_at(left) + packed_size<parts>(M, k),
                          pairs_at(right) + packed_size<parts>(N, k), k > 0 || beta != 0, c, ldc,
                          NoInterleaving());
  });
}

template <std::size_t parts>
void multiply_strips(std::size_t M, std::size_t N, std::size_t K, const real* a, std::size_t lda,
                     const real* right, real beta, real* c, std::size_t ldc) {
  alignas(64) std::uint32_t left[2][2 * steps_of(depth) * step_size<parts>];
  if (beta != 0 && beta != 1) scale_result(M, N, beta, c, ldc);
  const AmxSession in_use;
  const Strips strips{M, K};
  const auto pack = [&](std::size_t index, std::size_t calls) {
    const Strip strip = strips[index];
    return InterleavedPacking<parts>(strip.height, strip.count, {a + strip.i * lda + strip.k, lda},
                                     false, left[index % 2], calls);
  };
  pack(0, 1).finish();
  for (std::size_t index = 0; index < strips.size(); ++index) {
    const auto [i, height, k, count] = strips[index];
    InterleavedPacking<parts> next = pack(index + 1, interleaved_calls<parts>(height, N, count));
    multiply_depth<parts>(height, N, count, left[index % 2],
                          pairs_at(right) + packed_size<parts>(N, k), k > 0 || beta != 0,
                          c + i * ldc, ldc, next);
    next.finish();
  }
}

template <std::size_t parts>
void multiply_operands(std::size_t M, std::size_t N, std::size_t K, const Operand& a,
                       const Operand& b, real beta, real* c, std::size_t ldc) {
  constexpr std::size_t max_tile_rows = 256, size = steps_of(depth) * step_size<parts>;
  alignas(64) std::uint32_t left[max_tile_rows / edge * size], right[2][2 * size];
  if (beta != 0 && beta != 1) scale_result(M, N, beta, c, ldc);
  const AmxSession in_use;
  for_each_depth(K, [&](std::size_t k, std::size_t count) {
    const Operand rows = columns_from(k, a), columns = columns_from(k, flipped(b));
    for (std::size_t i = 0; i < M; i += max_tile_rows) {
      const std::size_t height = std::min(max_tile_rows, M - i);
      pack_edges<parts>(height, count, rows_from(i, rows), false, left);
      const auto pack = [&](std::size_t n, std::size_t calls) {
        const std::size_t first = std::min(n, N), width = std::min(rows_at_once, N - first);
        return InterleavedPacking<parts>(width, count, rows_from(first, columns), true,
                                         right[n / rows_at_once % 2], calls);
      };
      pack(0, 1).finish();
      for (std::size_t n = 0; n < N; n += rows_at_once) {
        const std::size_t width = std::min(rows_at_once, N - n);
        InterleavedPacking<parts> next =
            pack(n + rows_at_once, interleaved_calls<parts>(height, width, count));
        multiply_depth<parts>(height, width, count, left, right[n / rows_at_once % 2],
                              k > 0 || beta != 0, c + i * ldc + n, ldc, next);
        next.finish();
      }
    }
  });
}

/// Returns whether products of this thread use one part per factor.
bool rounds() { return product_precision() == ProductPrecision::bfloat16; }

}  // namespace

bool has_amx() {
  static const bool found = amx::is_permitted();
  return found;
}

AmxSession::AmxSession(bool wanted) : wanted_(wanted) {
  if (wanted_) amx::enable();
}
AmxSession::~AmxSession() {
  if (wanted_) amx::release();
}

std::size_t parts_size(std::size_t n, std::size_t K) {
  return rounds() ? packed_size<1>(n, K) : packed_size<3>(n, K);
}

void pack_left(std::size_t M, std::size_t K, const Operand& a, real* packed) {
  (rounds() ? pack_all<1> : pack_all<3>)(M, K, a, false, packed);
}

void pack_right(std::size_t N, std::size_t K, const Operand& b, real* packed) {
  (rounds() ? pack_all<1> : pack_all<3>)(N, K, flipped(b), true, packed);
}

void multiply_packed(std::size_t M, std::size_t N, std::size_t K, const real* left,
                     const real* right, real beta, real* c, std::size_t ldc) {
  (rounds() ? multiply_all<1> : multiply_all<3>)(M, N, K, left, right, beta, c, ldc);
}

void multiply_by_packed(std::size_t M, std::size_t N, std::size_t K, const real* a, std::size_t lda,
                        const real* right, real beta, real* c, std::size_t ldc) {
  (rounds() ? multiply_strips<1> : multiply_strips<3>)(M, N, K, a, lda, right, beta, c, ldc);
}

bool is_amx_product(std::size_t M, std::size_t N, std::size_t K) {
  constexpr std::size_t fewest = 64;
  return std::min({M, N, K}) >= fewest && has_amx();
}

void amx_product(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
                 real beta, real* c, std::size_t ldc) {
  (rounds() ? multiply_operands<1> : multiply_operands<3>)(M, N, K, a, b, beta, c, ldc);
}

}  // namespace bochner::inline BOCHNER_PRECISION
#else
namespace bochner::inline BOCHNER_PRECISION {

bool has_amx() { return false; }
bool is_amx_product(std::size_t, std::size_t, std::size_t) { return false; }
AmxSession::AmxSession(bool wanted) : wanted_(wanted) {}
AmxSession::~AmxSession() = default;
std::size_t parts_size(std::size_t, std::size_t) { return 0; }
void pack_left(std::size_t, std::size_t, const Operand&, real*) {}
void pack_right(std::size_t, std::size_t, const Operand&, real*) {}
void multiply_packed(std::size_t, std::size_t, std::size_t, const real*, const real*, real, real*,
                     std::size_t) {}
void multiply_by_packed(std::size_t, std::size_t, std::size_t, const real*, std::size_t,
                        const real*, real, real*, std::size_t) {}
void amx_product(std::size_t, std::size_t, std::size_t, const Operand&, const Operand&, real, real*,
                 std::size_t) {}

}  // namespace bochner::inline BOCHNER_PRECISION
#endif
