#pragma once
/// Matrix products, one thread per call. Dispatches to our own tiles or AMX where they are faster,
/// else to oneDNN for float and OpenBLAS for double.

#include <bochner/autodiff/real.hpp>
#include <bochner/base/numeric/openblas.hpp>

namespace bochner::inline BOCHNER_PRECISION {

enum class Transpose { no, yes };
inline constexpr Transpose transposed = Transpose::yes;

/// A factor of a product: rows of `data` are `ld` elements apart; optionally read transposed.
struct Operand {
  const real* data;
  std::size_t ld;
  Transpose transpose = Transpose::no;
};

/// Returns the factor without its first `first` rows (as read).
inline Operand rows_from(std::size_t first, const Operand& a) {
  return {a.data + first * (a.transpose == transposed ? 1 : a.ld), a.ld, a.transpose};
}

/// Returns the factor without its first `first` columns (as read).
inline Operand columns_from(std::size_t first, const Operand& a) {
  return {a.data + first * (a.transpose == transposed ? a.ld : 1), a.ld, a.transpose};
}

/// Rows that are read next; a product prefetches them.
struct Upcoming {
  const real* data;
  std::size_t rows, ld, columns;
};

/// Computes C = A B + beta C, row-major; A reads as (M, K), B as (K, N), C is (M, N).
/// Runs on the calling thread only; equal arguments give equal bits. beta = 0 does not read C.
/// Throws std::invalid_argument if a leading dimension is shorter than a row.
void gemm(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
          real beta, real* c, std::size_t ldc);

/// Computes C (M, N) = beta C, the product for K = 0. beta = 0 does not read C.
void scale_result(std::size_t M, std::size_t N, real beta, real* c, std::size_t ldc);

/// Computes gemm() in fixed row tiles that run in parallel.
void parallel_gemm(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
                   real beta, real* c, std::size_t ldc);

/// Computes C (M, N) += A^T B for tall A (K, M) and B (K, N), the shape of a weight gradient with K
/// tokens. Chunks of rows run in parallel and are joined in order.
void accumulate_transposed_product(std::size_t M, std::size_t N, std::size_t K, const real* a,
                                   std::size_t lda, const real* b, std::size_t ldb, real* c,
                                   std::size_t ldc);

/// Returns whether large products use our own tiles: with AVX-512, or AVX2 if oneDNN has no more.
bool has_own_products();

void count_product(std::size_t M, std::size_t N, std::size_t K);

/// Returns the floating-point operations of all products since the program started (2 M N K each).
double gemm_operations();

/// Returns the library that serves gemm(); starts OpenBLAS.
const GemmBackend& gemm_backend();

/// Transposes `from` (rows, columns) to `to` (columns, rows) in blocks of 8 x 8.
void transpose_matrix(std::size_t rows, std::size_t columns, const real* from, std::size_t stride,
                      real* to, std::size_t to_stride);

/// Returns whether small_product() is faster; depends on the shape only.
bool is_small_product(std::size_t M, std::size_t N, std::size_t K);

/// Computes gemm() for operands in cache, as in attention chunks; requires is_small_product().
/// Every element is one sum over k in order, independent of the other rows.
void small_product(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
                   real beta, real* c, std::size_t ldc);

/// Computes y (N) = x (K) B + beta y. Reads the rows of B, `ld` apart, once, eight at a time, at
/// memory speed: 55 to 60 GB/s from the third-level cache of a Zen 3 for weights of 1.7 MB, and 54
/// to 62 for (128, 128) (oneDNN 2.6.3: 43 to 54). Every element is one sum in order, from beta y
/// on.
void vector_product(std::size_t N, std::size_t K, const real* x, const real* b, std::size_t ld,
                    real beta, real* y);

/// Returns whether a product in memory uses panel_product() on processors without AMX. One core of
/// a Zen 3 (102 GFLOP/s), GFLOP/s of oneDNN 2.6.3 with AVX2 and of panel_product():
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

/// Computes gemm() for operands in memory: packs one panel of B at a time and multiplies it by all
/// rows of A while the next panel is prefetched.
void panel_product(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
                   real beta, real* c, std::size_t ldc);

}  // namespace bochner::inline BOCHNER_PRECISION
