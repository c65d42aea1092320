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

/// C = A B + beta C, row-major; A reads as (M, K), B as (K, N), C is (M, N).
/// Runs on the calling thread only; equal arguments give equal bits. beta = 0 does not read C.
/// Throws std::invalid_argument when a leading dimension is shorter than a row.
void gemm(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
          real beta, real* c, std::size_t ldc);

/// The same product cut into fixed row tiles that run in parallel.
void parallel_gemm(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
                   real beta, real* c, std::size_t ldc);

/// C (M, N) += A^T B for tall A (K, M) and B (K, N): chunks of rows in parallel, joined in order.
/// The shape of a weight gradient: K is the number of tokens.
void accumulate_transposed_product(std::size_t M, std::size_t N, std::size_t K, const real* a,
                                   std::size_t lda, const real* b, std::size_t ldb, real* c,
                                   std::size_t ldc);

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

/// Whether panel_product() is the faster way where oneDNN has AVX2 only. One core of a Zen 5 held
/// to that, oneDNN 2.6.3, GFLOP/s of its sgemm against panels, for rows of 4 KB or a multiple of
/// it, which fall into the same sets of L1; where arrays begin decides whether oneDNN suffers:
///
///     M     N     K   oneDNN    panels
///    256  1024   256  70 - 113  112 - 119
///    256  1024   384  68        114
///    128  1024   256  69 - 104  105 - 109
///    256  2048   128  67        115
///    256  1024   512  112       106        the worst of those where it does not
///     48  1024   256  116        92        fewer than 64 rows: it does not
///
/// Elsewhere, and with AVX-512, neither is faster by more than a tenth.
bool is_panel_product(std::size_t M, std::size_t N, std::size_t K);

/// gemm() as small products of 64 columns and 256 inner elements at a time.
void panel_product(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
                   real beta, real* c, std::size_t ldc);

}  // namespace bochner::inline BOCHNER_PRECISION
