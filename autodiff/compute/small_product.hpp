#pragma once
/// Products whose operands are in cache: what attention makes by the thousand, one per chunk.

#include <bochner/autodiff/compute/gemm.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// A read-only matrix: element (i, j) is data[i * row + j * column].
struct Strided {
  const real* data;
  std::size_t row, column;
};

/// to (columns, rows) = from^T for from (rows, columns), in blocks of 8 x 8.
void transpose_matrix(std::size_t rows, std::size_t columns, const real* from, std::size_t stride,
                      real* to, std::size_t to_stride);

/// Whether small_product() is the faster way; depends on the shape only.
bool is_small_product(std::size_t M, std::size_t N, std::size_t K);

/// C (M, N) = alpha A B + beta C with row stride ldc, A (M, K), B (K, N). Every element is one sum
/// over k in order, whatever the other rows are. Only where is_small_product().
void small_product(std::size_t M, std::size_t N, std::size_t K, real alpha, const Strided& a,
                   const Strided& b, real beta, real* c, std::size_t ldc);

}  // namespace bochner::inline BOCHNER_PRECISION
