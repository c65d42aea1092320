#pragma once
/// The one door to matrix products: oneDNN for float, OpenBLAS for double, one thread per call.

#include <bochner/autodiff/compute/openblas.hpp>
#include <bochner/autodiff/real.hpp>

namespace bochner::inline BOCHNER_PRECISION {

enum class Transpose { no, yes };
inline constexpr Transpose transposed = Transpose::yes;

/// A factor of a product: rows of `data` lie `ld` elements apart, and it is read transposed or not.
struct Operand {
  const real* data;
  std::size_t ld;
  Transpose transpose = Transpose::no;
};

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

/// The same product cut into fixed row tiles that run in parallel.
void parallel_gemm(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
                   real beta, real* c, std::size_t ldc);

/// C (M, N) = A^T B + beta C on the calling thread for A (K, M) and B (K, N) in memory: what
/// accumulate_transposed_product() makes of a chunk of rows.
void transposed_product(std::size_t M, std::size_t N, std::size_t K, const real* a, std::size_t lda,
                        const real* b, std::size_t ldb, real beta, real* c, std::size_t ldc);

/// C (M, N) += A^T B for tall A (K, M) and B (K, N): chunks of rows in parallel, joined in order.
/// The shape of a weight gradient: K is the number of tokens.
void accumulate_transposed_product(std::size_t M, std::size_t N, std::size_t K, const real* a,
                                   std::size_t lda, const real* b, std::size_t ldb, real* c,
                                   std::size_t ldc);

/// Whether large products run in our own tiles: where oneDNN has AVX2 only.
bool has_own_products();

/// Adds one to what gemm_operations() tells.
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

/// Whether panel_product() is the faster way where oneDNN has AVX2 only, which reads and packs rows
/// of 2 KB or a multiple of it, that fall into the same sets of L1, and transposed A slowly. One
/// core of a Zen 4 held to AVX2, oneDNN 2.6.3, arrays at whole pages, GFLOP/s of its sgemm against
/// panels; 115 are the peak:
///
///     M     N     K   oneDNN   panels
///    256   512   128    78       98
///    256   512   512    67       98
///    256  1024   256    49       99
///    128   512   256    69       91      A transposed: a gradient of weights
///    512   128   256    79       90      A transposed
///    128   256   256    90       96      A transposed
///     64   256   256    95       90      A transposed, fewer than 128 rows: it does not
///    256  1000    64   102       87      no such rows: it does not
///     48  1024   256   116       92      fewer than 64 rows: it does not (a Zen 5)
///    256  1024   512   112      106      a Zen 5 where arrays begin so that oneDNN is not slow
///
/// Elsewhere, and with AVX-512, neither is faster by more than a tenth. In a step of performer-lm
/// these shapes were slower still by oneDNN (53 to 56), and the step took 400 ms in place of 340.
bool is_panel_product(std::size_t M, std::size_t N, std::size_t K, Transpose a);

/// gemm() as small products of 64 columns and 256 inner elements at a time.
void panel_product(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
                   real beta, real* c, std::size_t ldc);

}  // namespace bochner::inline BOCHNER_PRECISION
