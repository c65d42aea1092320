#pragma once
/// Products of float in the matrix units of a processor (Intel's AMX), which multiply bfloat16.
///
/// A float is the sum of three bfloat16 of 8 bits each, and a product of two that of nine products.
/// Six of them are summed in float; the three that are left out are below 2^-24 of the product.
/// Sums of products are as exact as those of fused multiply-adds (see the tests), and a core of a
/// Xeon of 2024 makes 550 of the 3600 GFLOP/s of its bfloat16 of them, where its vectors end at
/// 240. Infinity becomes NaN, and so do the last 2^-9 of the numbers before it. Henry, Tang and
/// Heinecke, "Leveraging the bfloat16 artificial intelligence datatype for higher-precision
/// computations", 2019.

#include <bochner/autodiff/compute/gemm.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Whether the build is for matrix units, this processor has them, and the system lets us.
bool has_amx();

/// Makes them ready for the calling thread, and lets them rest in the end: for multiply_packed(),
/// if it is wanted.
class MatrixUnitsInUse {
 public:
  explicit MatrixUnitsInUse(bool wanted = true);
  ~MatrixUnitsInUse();
  MatrixUnitsInUse(const MatrixUnitsInUse&) = delete;
  MatrixUnitsInUse& operator=(const MatrixUnitsInUse&) = delete;

 private:
  [[maybe_unused]] bool wanted_;
};

/// Reals that the parts of A (n, K) or of B (K, n) take.
std::size_t parts_size(std::size_t n, std::size_t K);
/// A as its parts, in the order in which tiles are read.
void pack_left(std::size_t M, std::size_t K, const Operand& a, real* parts);
/// The same of B.
void pack_right(std::size_t N, std::size_t K, const Operand& b, real* parts);
/// C = A B + beta C for beta 0 or 1, of factors that were packed.
void multiply_packed(std::size_t M, std::size_t N, std::size_t K, const real* left,
                     const real* right, real beta, real* c, std::size_t ldc);
/// C = A B + beta C of a B that was packed alone. Fetches nothing ahead: lines on their
/// way from memory would hold up those that tiles read from the second cache.
void multiply_by_packed(std::size_t M, std::size_t N, std::size_t K, const real* a, std::size_t lda,
                        const real* right, real beta, real* c, std::size_t ldc);
/// Whether gemm() goes that way.
bool is_amx_product(std::size_t M, std::size_t N, std::size_t K);
/// gemm() of operands in memory.
void amx_product(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
                 real beta, real* c, std::size_t ldc);

}  // namespace bochner::inline BOCHNER_PRECISION
