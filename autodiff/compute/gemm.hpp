#pragma once
/// The one door to matrix products: oneDNN for float, OpenBLAS for double, one thread per call.

#include <bochner/autodiff/compute/openblas.hpp>
#include <bochner/autodiff/real.hpp>
#include <cstddef>

namespace bochner::inline BOCHNER_PRECISION {

enum class Transpose { no, yes };

/// C = alpha op(A) op(B) + beta C, row-major; op(A) is (M, K), op(B) is (K, N), C is (M, N).
/// Runs on the calling thread only; equal arguments give equal bits. beta = 0 does not read C.
/// Throws std::invalid_argument when a leading dimension is shorter than a row.
void gemm(Transpose transpose_a, Transpose transpose_b, std::size_t M, std::size_t N, std::size_t K,
          real alpha, const real* a, std::size_t lda, const real* b, std::size_t ldb, real beta,
          real* c, std::size_t ldc);

/// The same product cut into fixed row tiles that run in parallel.
void parallel_gemm(Transpose transpose_a, Transpose transpose_b, std::size_t M, std::size_t N,
                   std::size_t K, real alpha, const real* a, std::size_t lda, const real* b,
                   std::size_t ldb, real beta, real* c, std::size_t ldc);

/// C (M, N) += A^T B for tall A (K, M) and B (K, N): chunks of rows in parallel, joined in order.
/// The shape of a weight gradient: K is the number of tokens.
void accumulate_transposed_product(std::size_t M, std::size_t N, std::size_t K, const real* a,
                                   std::size_t lda, const real* b, std::size_t ldb, real* c,
                                   std::size_t ldc);

/// Floating-point operations of all products since the program started (2 M N K each).
double gemm_operations();

/// What serves gemm() here; starts OpenBLAS too.
const GemmBackend& gemm_backend();

}  // namespace bochner::inline BOCHNER_PRECISION
