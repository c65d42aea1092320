#pragma once
/// Matrix products whose factors are rounded to bfloat16, for ProductPrecision::bfloat16.

#include <bochner/autodiff/compute/gemm.hpp>
#include <span>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns whether this processor multiplies pairs of bfloat16, in float and in a build that can:
/// the sums then round otherwise than those of rounded floats.
bool multiplies_pairs();

/// Returns whether gemm() rounds the factors of a product on this thread:
/// ProductPrecision::bfloat16 is set and the product is large enough to pay for packing. Never in
/// double.
bool is_bfloat16_product(std::size_t M, std::size_t N, std::size_t K);

/// Computes gemm() with both factors rounded to the nearest bfloat16 and sums in float.
void bfloat16_product(std::size_t M, std::size_t N, std::size_t K, const Operand& a,
                      const Operand& b, real beta, real* c, std::size_t ldc);

/// Returns the size in reals of packed B (K, N).
std::size_t bfloat16_size(std::size_t N, std::size_t K);
/// Packs B as pairs of bfloat16 in the order in which tiles read them.
void pack_bfloat16(std::size_t N, std::size_t K, const Operand& b, real* packed);
/// Computes C = A B + beta C from packed B; rows of A are `lda` apart.
void multiply_by_bfloat16(std::size_t M, std::size_t N, std::size_t K, const real* a,
                          std::size_t lda, const real* packed, real beta, real* c, std::size_t ldc,
                          std::span<const Upcoming> upcoming = {});

}  // namespace bochner::inline BOCHNER_PRECISION
