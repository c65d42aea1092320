#include <gtest/gtest.h>

#include <autodiff/noise.hpp>
#include <bochner/autodiff/compute/packed_factor.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {
namespace panel_product_test {

struct Product {
  std::size_t M, N, K;
  std::vector<real> a = noise(M * K, 1), b = noise(K * N, 2), c = noise(M * N, 3);
  std::vector<real> a_flipped = flipped(a, M, K), b_flipped = flipped(b, K, N);

  /// Sums of K products of normal numbers are about sqrt(K) and round K times.
  void expect(const std::vector<real>& found, real beta) const {
    const double tolerance = 8 * double(std::numeric_limits<real>::epsilon()) * double(K + 8);
    for (std::size_t i = 0; i < M; ++i) {
      for (std::size_t j = 0; j < N; ++j) {
        double sum = double(beta) * double(c[i * N + j]);
        for (std::size_t k = 0; k < K; ++k) sum += double(a[i * K + k]) * double(b[k * N + j]);
        ASSERT_NEAR(found[i * N + j], sum, tolerance)
            << "(" << M << ", " << K << ") x (" << K << ", " << N << ") at " << i << ", " << j;
      }
    }
  }
};

const std::size_t shapes[][3] = {
    {67, 131, 300}, {200, 20, 256}, {131, 1, 7}, {300, 64, 513}, {128, 24, 1}};

/// Number of rows that makes packing worthwhile for any factor.
constexpr std::size_t many = 131072;

/// Panels add the parts of long rows one after the other: only the grouping of terms differs.
TEST(PanelProduct, IsTheProductOfBothOrientations) {
  for (const auto& [M, N, K] : shapes) {
    const Product p{M, N, K};
    for (const real beta : {real(0), real(1), real(0.7)}) {
      std::vector<real> plain = p.c, other = p.c;
      panel_product(M, N, K, {p.a.data(), K}, {p.b.data(), N}, beta, plain.data(), N);
      p.expect(plain, beta);
      panel_product(M, N, K, {p.a_flipped.data(), M, transposed},
                    {p.b_flipped.data(), K, transposed}, beta, other.data(), N);
      EXPECT_EQ(plain, other);
    }
  }
}

std::vector<real> by_blocks(const PackedFactor& factor, const Product& p, real beta) {
  std::vector<real> c = p.c;
  for (std::size_t i = 0, count; i < p.M; i += count) {
    count = std::min(factor.block(), p.M - i);
    const real* rows = p.a.data() + i * p.K;
    const Upcoming next[] = {{rows + count * p.K, p.M - i - count, p.K, p.K},
                             {p.b.data(), 0, 0, 0}};
    factor.multiply(count, rows, p.K, beta, c.data() + i * p.N, p.N, next);
  }
  return c;
}

TEST(PackedFactor, IsTheProductPackedOrNot) {
  for (const auto& [M, N, K] : shapes) {
    const Product p{M, N, K};
    for (const bool own : {false, true}) {
      for (const real beta : {real(0), real(1), real(0.7)}) {
        p.expect(by_blocks(PackedFactor(many, N, K, {p.b.data(), N}, own), p, beta), beta);
        const Operand b{p.b_flipped.data(), K, transposed};
        p.expect(by_blocks(PackedFactor(many, N, K, b, own), p, beta), beta);
      }
    }
  }
}

TEST(PackedFactor, ARowHasTheSameBitsInEveryBlock) {
  const Product p{150, 77, 261};
  const PackedFactor factor(many, p.N, p.K, {p.b.data(), p.N}, true);
  const std::vector<real> all = by_blocks(factor, p, 0);
  for (std::size_t i = 0; i < p.M; ++i) {
    std::vector<real> row(p.N);
    factor.multiply(1, p.a.data() + i * p.K, p.K, 0, row.data(), p.N);
    for (std::size_t j = 0; j < p.N; ++j) ASSERT_EQ(row[j], all[i * p.N + j]) << i << ", " << j;
  }
}

TEST(PackedFactor, IsInBlocksWhereRowsAreManyAndDoNotFitTheCache) {
  const std::vector<real> b = noise(64 * 64, 1);
  const auto block = [&](std::size_t rows, bool own) {
    return PackedFactor(rows, 64, 64, {b.data(), 64}, own).block();
  };
  EXPECT_LT(block(4096, true), 4096);
  EXPECT_GE(block(512, true), 512);
  EXPECT_GE(block(4096, false), 4096);
}

/// Uses panels or AMX parts, which so few rows would not justify by themselves.
TEST(PackedFactor, IsPackedForFewRowsThatComeAgain) {
  constexpr auto again = PackedFactor::Uses::again;
  for (const auto& [N, K] : {std::pair<std::size_t, std::size_t>{131, 300}, {64, 130}, {20, 7}}) {
    for (const std::size_t M : {1, 16, 33}) {
      const Product p{M, N, K};
      const PackedFactor factor(M, N, K, {p.b.data(), N}, true, again);
      EXPECT_LT(factor.block(), 4096);
      p.expect(by_blocks(factor, p, 0), 0);
      p.expect(by_blocks(PackedFactor(M, N, K, {p.b.data(), N}, false, again), p, 0), 0);
    }
  }
}

TEST(PackedFactor, CountsItsOperations) {
  const Product p{160, 16, 8};
  const PackedFactor factor(many, p.N, p.K, {p.b.data(), p.N}, true);
  const double before = gemm_operations();
  by_blocks(factor, p, 0);
  EXPECT_EQ(gemm_operations() - before, 2.0 * 160 * 16 * 8);
}

TEST(PackedFactor, OfNothingMultipliesToNothing) {
  std::vector<real> c = {7, 7, 7, 7};
  PackedFactor(many, 2, 0, {nullptr, 2}, true).multiply(2, nullptr, 0, 0, c.data(), 2);
  EXPECT_EQ(c, std::vector<real>(4, 0));
  PackedFactor(many, 0, 3, {nullptr, 0}, true).multiply(2, c.data(), 3, 0, nullptr, 0);
}

}  // namespace panel_product_test
}  // namespace bochner::inline BOCHNER_PRECISION
