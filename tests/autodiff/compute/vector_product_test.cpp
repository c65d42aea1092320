#include <gtest/gtest.h>

#include <autodiff/noise.hpp>
#include <bochner/autodiff/compute/gemm.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {
namespace vector_product_test {

/// A token has the same bits alone and in a batch, also with strided rows.
TEST(VectorProduct, IsARowOfTheProductOfMany) {
  const std::size_t M = 5, ld = 90;
  for (const std::size_t N : {1, 7, 8, 16, 61, 80}) {
    for (const std::size_t K : {1, 7, 8, 29, 64}) {
      const std::vector<real> a = noise(M * K, 1), b = noise(K * ld, 2);
      std::vector<real> all(M * N), alone(M * N, real(7));
      small_product(M, N, K, {a.data(), K}, {b.data(), ld}, 0, all.data(), N);
      for (std::size_t i = 0; i < M; ++i)
        vector_product(N, K, a.data() + i * K, b.data(), ld, 0, alone.data() + i * N);
      EXPECT_EQ(alone, all) << N << ", " << K;
    }
  }
}

/// Too large for small_product(); x is a row, or a column as in gradients of weights.
TEST(VectorProduct, IsWhatGemmMakesOfOneRow) {
  const std::size_t N = 300, K = 1100;
  const std::vector<real> x = noise(K, 1), b = noise(K * N, 2), before = noise(N, 3);
  const double tolerance = 8 * double(std::numeric_limits<real>::epsilon()) * double(K);
  for (const real beta : {real(0), real(1), real(0.7)}) {
    std::vector<real> row = before, column = before;
    gemm(1, N, K, {x.data(), K}, {b.data(), N}, beta, row.data(), N);
    gemm(1, N, K, {x.data(), 1, transposed}, {b.data(), N}, beta, column.data(), N);
    EXPECT_EQ(row, column);
    for (std::size_t j = 0; j < N; ++j) {
      double sum = double(beta) * double(before[j]);
      for (std::size_t k = 0; k < K; ++k) sum += double(x[k]) * double(b[k * N + j]);
      ASSERT_NEAR(row[j], sum, tolerance) << j;
    }
  }
}

}  // namespace vector_product_test
}  // namespace bochner::inline BOCHNER_PRECISION
