#pragma once
/// The one door to matrix products, one thread per call: tiles of our own, or matrix units, for
/// what they are faster at; else oneDNN for float and OpenBLAS for double.

#include <bochner/autodiff/real.hpp>
#include <bochner/base/numeric/openblas.hpp>

namespace bochner::inline BOCHNER_PRECISION {

enum class Transpose { no, yes };
inline constexpr Transpose transposed = Transpose::yes;

/// A factor of a product: rows of `data` lie `ld` elements apart, and it is read transposed or not.
struct Operand {
  const real* data;
  std::size_t ld;
  Transpose transpose = Transpose::no;
};

/// A factor without its rows, as it reads, before `first`.
inline Operand rows_from(std::size_t first, const Operand& a) {
  return {a.data + first * (a.transpose == transposed ? 1 : a.ld), a.ld, a.transpose};
}

/// The same without its first columns.
inline Operand columns_from(std::size_t first, const Operand& a) {
  return {a.data + first * (a.transpose == transposed ? a.ld : 1), a.ld, a.transpose};
}

/// Rows that are read next: a product brings them into the cache while it computes.
struct Upcoming {
  const real* data;
  std::size_t rows, ld, columns;
};

/// C = A B + beta C, row-major; A reads as (M, K), B as (K, N), C is (M, N).
/// Runs on the calling thread only; equal arguments give equal bits. beta = 0 does not read C.
/// Throws std::invalid_argument when a leading dimension is shorter than a row.
void gemm(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
          real beta, real* c, std::size_t ldc);

/// C (M, N) = beta C: what is left of a product where K is 0. beta = 0 does not read C.
void scale_result(std::size_t M, std::size_t N, real beta, real* c, std::size_t ldc);

/// The product of gemm() cut into fixed row tiles that run in parallel.
void parallel_gemm(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
                   real beta, real* c, std::size_t ldc);

/// C (M, N) += A^T B for tall A (K, M) and B (K, N): chunks of rows in parallel, joined in order.
/// The shape of a weight gradient: K is the number of tokens.
void accumulate_transposed_product(std::size_t M, std::size_t N, std::size_t K, const real* a,
                                   std::size_t lda, const real* b, std::size_t ldb, real* c,
                                   std::size_t ldc);

/// Whether large products run in our own tiles: always with AVX-512, and with AVX2 in float where
/// oneDNN has no more.
bool has_own_products();

/// Adds 2 M N K to what gemm_operations() tells.
void count_product(std::size_t M, std::size_t N, std::size_t K);

/// Floating-point operations of all products since the program started (2 M N K each).
double gemm_operations();

/// What serves gemm() here; starts OpenBLAS too.
const GemmBackend& gemm_backend();

/// to (columns, rows) = from^T for from (rows, columns), in blocks of 8 x 8.
void transpose_matrix(std::size_t rows, std::size_t columns, const real* from, std::size_t stride,
                      real* to, std::size_t to_stride);

/// Whether small_product() is the faster way; depends on the shape only.
bool is_small_product(std::size_t M, std::size_t N, std::size_t K);

/// gemm() of operands in cache: what attention makes by the thousand, one per chunk. Every element
/// is one sum over k in order, whatever the other rows are. Only where is_small_product().
void small_product(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
                   real beta, real* c, std::size_t ldc);

/// y (N) = x (K) B + beta y: rows of B, `ld` apart, are read once, eight side by side, which is as
/// fast as they arrive: weights of 1.7 MB from the third cache of a Zen 3 at 55 to 60 GB/s, and
/// those of (128, 128) at 54 to 62 where oneDNN 2.6.3 takes 43 to 54. Every element is one sum in
/// order, from beta y on.
void vector_product(std::size_t N, std::size_t K, const real* x, const real* b, std::size_t ld,
                    real beta, real* y);

/// Whether a product in memory goes by panel_product(), where there are no matrix units. One core
/// of a Zen 3 (102 GFLOP/s), GFLOP/s of oneDNN 2.6.3 with AVX2 against this:
///
///      M     N     K   oneDNN   panels
///    256   512   128     69       93      rows of 2 KB and more: oneDNN packs them slowly
///    256  1024   256     47       93
///     64  1024   256     46       85
///    128   512   256     62       89      A transposed: a gradient of weights
///    128   128   256     82       90      A transposed
///    256   128   512     96       93      neither: it costs some hundredths
///     64   256   256     86       85      A transposed
///     64    16  4096     98       92
///   1024  1024  1024     93       87
bool is_panel_product(std::size_t M, std::size_t N);

/// gemm() of operands in memory: panels of B are packed one after the other, and read by all rows
/// of A while the next is on its way into the cache.
void panel_product(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
                   real beta, real* c, std::size_t ldc);

}  // namespace bochner::inline BOCHNER_PRECISION
