#include <bochner/autodiff/compute/bfloat16/bfloat16_product.hpp>
#include <bochner/base/numeric/product_precision.hpp>
#include <bochner/base/processor/features.hpp>

#ifndef BOCHNER_DOUBLE
#include <bochner/autodiff/compute/bfloat16/bfloat16_tiles.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using register_tiles::is_pair, register_tiles::rounded_count;

/// Inner elements per pass: a panel of B takes half of the first-level cache.
constexpr std::size_t rounded_depth = 256;
/// Rows of A packed at a time: they stay in the second-level cache.
constexpr std::size_t rounded_rows = 256;

/// Returns body(E()) for the elements that this processor multiplies fastest.
template <class Body>
auto with_elements(const Body& body) {
#ifdef BOCHNER_BFLOAT16_PAIRS
  if (multiplies_pairs()) return body(register_tiles::Pair());
#endif
  return body(real());
}

template <class E>
E* elements_in(real* x) {
  return reinterpret_cast<E*>(x);
}
template <class E>
const E* elements_in(const real* x) {
  return reinterpret_cast<const E*>(x);
}

/// Returns the inner elements of the next pass.
std::size_t depth_from(std::size_t k, std::size_t K) { return std::min(rounded_depth, K - k); }

/// Returns the size in elements of packed B (K, N).
template <class E>
std::size_t rounded_size(std::size_t N, std::size_t K) {
  return rounded_count<E>(K) * register_tiles::padded(N);
}

template <class E>
void multiply_rounding(std::size_t M, std::size_t N, std::size_t K, const Operand& a,
                       const Operand& b, real beta, real* c, std::size_t ldc) {
  using namespace register_tiles;
  alignas(64) E left[rounded_rows * rounded_count<E>(rounded_depth)];
  alignas(64) E panel[rounded_count<E>(rounded_depth) * max_vectors * width];
  for (std::size_t i = 0; i < M; i += rounded_rows) {
    const std::size_t rows = std::min(rounded_rows, M - i);
    for (std::size_t k = 0; k < K; k += rounded_depth) {
      const std::size_t depth = depth_from(k, K);
      const LeftFactor<E> packed = round_left(rows, depth, columns_from(k, rows_from(i, a)), left);
      for (std::size_t n = 0, columns; n < N; n += columns) {
        columns = panel_columns(N - n);
        const std::size_t count = std::min(columns, N - n);
        round_panel(depth, count, columns, columns_from(n, rows_from(k, b)), panel);
        multiply_panels(rows, count, rounded_count<E>(depth), packed, Panels<E>{panel, 0, true},
                        k > 0 ? real(1) : beta, c + i * ldc + n, ldc, Nothing());
      }
    }
  }
}

template <class E>
void multiply_rounded(std::size_t M, std::size_t N, std::size_t K, const real* a, std::size_t lda,
                      const E* packed, real beta, real* c, std::size_t ldc,
                      std::span<const Upcoming> upcoming) {
  using namespace register_tiles;
  constexpr std::size_t block = 48;
  alignas(64) E left[block * rounded_count<E>(rounded_depth)];
  Ahead ahead(upcoming, ceil_div(K, rounded_depth) * tile_count(M, N));
  for (std::size_t i = 0; i < M; i += block) {
    const std::size_t rows = std::min(block, M - i);
    for (std::size_t k = 0; k < K; k += rounded_depth) {
      const std::size_t depth = depth_from(k, K);
      multiply_panels(rows, N, rounded_count<E>(depth),
                      round_left(rows, depth, {a + i * lda + k, lda}, left),
                      Panels<E>{packed + rounded_size<E>(N, k), 0, true}, k > 0 ? real(1) : beta,
                      c + i * ldc, ldc, ahead);
    }
  }
}

}  // namespace

bool multiplies_pairs() {
#ifdef BOCHNER_BFLOAT16_PAIRS
  return has_bfloat16_pairs();
#else
  return false;
#endif
}

bool is_bfloat16_product(std::size_t M, std::size_t N, std::size_t K) {
  constexpr std::size_t fewest_rows = 16, fewest_columns = 16, fewest_inner = 16;
  return product_precision() == ProductPrecision::bfloat16 && M >= fewest_rows &&
         N >= fewest_columns && K >= fewest_inner && with_elements([K]<class E>(E) {
           return (is_pair<E> ? 2 : 1) * rounded_count<E>(K) <= K + K / 2;
         });
}

void bfloat16_product(std::size_t M, std::size_t N, std::size_t K, const Operand& a,
                      const Operand& b, real beta, real* c, std::size_t ldc) {
  with_elements([&]<class E>(E) { multiply_rounding<E>(M, N, K, a, b, beta, c, ldc); });
}

std::size_t bfloat16_size(std::size_t N, std::size_t K) {
  return with_elements([&]<class E>(E) { return rounded_size<E>(N, K); });
}

void pack_bfloat16(std::size_t N, std::size_t K, const Operand& b, real* packed) {
  with_elements([&]<class E>(E) {
    for (std::size_t k = 0; k < K; k += rounded_depth)
      register_tiles::round_right(depth_from(k, K), N, rows_from(k, b),
                                  elements_in<E>(packed) + rounded_size<E>(N, k));
  });
}

void multiply_by_bfloat16(std::size_t M, std::size_t N, std::size_t K, const real* a,
                          std::size_t lda, const real* packed, real beta, real* c, std::size_t ldc,
                          std::span<const Upcoming> upcoming) {
  with_elements([&]<class E>(E) {
    multiply_rounded(M, N, K, a, lda, elements_in<E>(packed), beta, c, ldc, upcoming);
  });
}

}  // namespace bochner::inline BOCHNER_PRECISION
#else
namespace bochner::inline BOCHNER_PRECISION {

bool multiplies_pairs() { return false; }
bool is_bfloat16_product(std::size_t, std::size_t, std::size_t) { return false; }
void bfloat16_product(std::size_t, std::size_t, std::size_t, const Operand&, const Operand&, real,
                      real*, std::size_t) {}
std::size_t bfloat16_size(std::size_t, std::size_t) { return 0; }
void pack_bfloat16(std::size_t, std::size_t, const Operand&, real*) {}
void multiply_by_bfloat16(std::size_t, std::size_t, std::size_t, const real*, std::size_t,
                          const real*, real, real*, std::size_t, std::span<const Upcoming>) {}

}  // namespace bochner::inline BOCHNER_PRECISION
#endif
