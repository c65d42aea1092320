#pragma once
/// Products of floats on Intel AMX, which multiplies bfloat16.
///
/// A float is the sum of three bfloat16 of 8 bits each, so a product of two floats is a sum of nine
/// products. Six are summed in float; the other three are below 2^-24 of the product. Sums are as
/// exact as those of fused multiply-adds (see the tests). A core of a Xeon of 2024 reaches 550
/// GFLOP/s this way (3600 of bfloat16); its vectors reach 240. Infinity, and the last 2^-9 of the
/// numbers below it, become NaN. Henry, Tang and Heinecke, "Leveraging the bfloat16 artificial
/// intelligence datatype for higher-precision computations", 2019.
///
/// With ProductPrecision::bfloat16 a factor has one part, its nearest bfloat16, and a product is
/// one; pack and multiply in the same precision.

#include <bochner/autodiff/compute/gemm.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns whether the build targets AMX, the processor has it and the system permits it.
bool has_amx();

/// Enables AMX on the calling thread for multiply_packed(); releases it in the destructor.
class AmxSession {
 public:
  explicit AmxSession(bool wanted = true);
  ~AmxSession();
  AmxSession(const AmxSession&) = delete;
  AmxSession& operator=(const AmxSession&) = delete;

 private:
  [[maybe_unused]] bool wanted_;
};

/// Returns the size in reals, in this precision, of the packed parts of A (n, K) or B (K, n).
std::size_t parts_size(std::size_t n, std::size_t K);
/// Packs A as bfloat16 parts in the order in which tiles are read.
void pack_left(std::size_t M, std::size_t K, const Operand& a, real* parts);
/// Packs B as bfloat16 parts in the order in which tiles are read.
void pack_right(std::size_t N, std::size_t K, const Operand& b, real* parts);
/// Computes C = A B + beta C from packed factors, beta 0 or 1.
void multiply_packed(std::size_t M, std::size_t N, std::size_t K, const real* left,
                     const real* right, real beta, real* c, std::size_t ldc);
/// Computes C = A B + beta C with only B packed. Does not prefetch: lines on their way from memory
/// would delay the tile loads from the second-level cache.
void multiply_by_packed(std::size_t M, std::size_t N, std::size_t K, const real* a, std::size_t lda,
                        const real* right, real beta, real* c, std::size_t ldc);
bool is_amx_product(std::size_t M, std::size_t N, std::size_t K);
/// Computes gemm() for operands in memory.
void amx_product(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
                 real beta, real* c, std::size_t ldc);

}  // namespace bochner::inline BOCHNER_PRECISION
