#include <gtest/gtest.h>

#include <autodiff/noise.hpp>
#include <bochner/autodiff/compute/gemm.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {
namespace small_product_test {

/// In any tile, a row is the same sum in the same order.
TEST(SmallProduct, ARowHasTheSameBitsInEveryTile) {
  const std::size_t K = 23;
  for (const std::size_t N : {1, 15, 16, 17, 33, 48, 64, 79}) {
    const std::size_t M = 29;
    const std::vector<real> a = noise(M * K, 1), b = noise(K * N, 2);
    const std::vector<real> before = noise(M * N, 3);
    for (const real beta : {real(0), real(0.7)}) {
      std::vector<real> all = before;
      small_product(M, N, K, {a.data(), K}, {b.data(), N}, beta, all.data(), N);
      for (std::size_t i = 0; i < M; ++i) {
        std::vector<real> row(before.begin() + i * N, before.begin() + (i + 1) * N);
        small_product(1, N, K, {a.data() + i * K, K}, {b.data(), N}, beta, row.data(), N);
        for (std::size_t j = 0; j < N; ++j) ASSERT_EQ(row[j], all[i * N + j]) << i << ", " << j;
      }
    }
  }
}

TEST(SmallProduct, AnOperandMayBeTransposedByItsStrides) {
  const std::size_t M = 19, N = 35, K = 27;
  const std::vector<real> a = noise(M * K, 1), b = noise(K * N, 2);
  const std::vector<real> a_transposed = flipped(a, M, K), b_transposed = flipped(b, K, N);
  std::vector<real> plain(M * N), strided(M * N);
  small_product(M, N, K, {a.data(), K}, {b.data(), N}, 0, plain.data(), N);
  small_product(M, N, K, {a_transposed.data(), M, transposed}, {b_transposed.data(), K, transposed},
                0, strided.data(), N);
  EXPECT_EQ(plain, strided);
}

/// Rows of B that are 4 KB apart fall into one cache set and are copied.
TEST(SmallProduct, RowsFarApartHaveTheSameBits) {
  const std::size_t M = 41, K = 70, far = 1024;
  for (const std::size_t N : {8, 16, 48, 80, 112}) {
    const std::vector<real> a = noise(M * K, 1), b = noise(K * N, 2);
    std::vector<real> apart(K * far), near(M * N), across(M * N);
    for (std::size_t k = 0; k < K; ++k) std::copy_n(b.begin() + k * N, N, apart.begin() + k * far);
    small_product(M, N, K, {a.data(), K}, {b.data(), N}, 0, near.data(), N);
    small_product(M, N, K, {a.data(), K}, {apart.data(), far}, 0, across.data(), N);
    EXPECT_EQ(near, across) << N;
  }
}

TEST(SmallProduct, LargeOperandsAreLeftToTheLibrary) {
  EXPECT_TRUE(is_small_product(64, 64, 64));
  EXPECT_FALSE(is_small_product(256, 512, 128));
  EXPECT_FALSE(is_small_product(64, 16, 4096));
  EXPECT_FALSE(is_small_product(100000, 64, 64));
}

}  // namespace small_product_test
}  // namespace bochner::inline BOCHNER_PRECISION
