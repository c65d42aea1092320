#include <gtest/gtest.h>

#include <autodiff/noise.hpp>
#include <bochner/autodiff/compute/bfloat16/amx.hpp>
#include <bochner/autodiff/compute/packed_factor.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {
namespace matrix_units_test {

class MatrixUnits : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_amx()) GTEST_SKIP() << "this processor or build has none";
  }
};

struct Product {
  std::size_t M, N, K;
  std::vector<real> a = noise(M * K, 1), b = noise(K * N, 2), c = noise(M * N, 3);

  std::vector<real> result(real beta) const {
    std::vector<real> y = c;
    amx_product(M, N, K, {a.data(), K}, {b.data(), N}, beta, y.data(), N);
    return y;
  }
  std::vector<real> packed_result(real beta) const {
    std::vector<real> y = c, parts(parts_size(N, K));
    pack_right(N, K, {b.data(), N}, parts.data());
    multiply_by_packed(M, N, K, a.data(), K, parts.data(), beta, y.data(), N);
    return y;
  }
  /// Returns the largest error relative to the element's sum of absolute products.
  double error(const std::vector<real>& y, real beta) const {
    double worst = 0;
    for (std::size_t i = 0; i < M; ++i) {
      for (std::size_t j = 0; j < N; ++j) {
        double sum = double(beta) * double(c[i * N + j]), size = std::abs(sum);
        for (std::size_t k = 0; k < K; ++k) {
          const double term = double(a[i * K + k]) * double(b[k * N + j]);
          sum += term;
          size += std::abs(term);
        }
        worst = std::max(worst, std::abs(double(y[i * N + j]) - sum) / size);
      }
    }
    return worst;
  }
};

const std::size_t shapes[][3] = {{64, 64, 64},   {128, 256, 128}, {67, 131, 300},
                                 {300, 77, 129}, {16, 16, 32},    {1, 1, 1},
                                 {33, 47, 95},   {90, 200, 1000}, {160, 96, 288}};

/// Half the error bound of sums of fused multiply-adds, which round once per term.
TEST_F(MatrixUnits, SumAsExactlyAsFloat) {
  constexpr double epsilon = std::numeric_limits<float>::epsilon();
  for (const auto& [M, N, K] : shapes) {
    const Product p{M, N, K};
    for (const real beta : {real(0), real(1), real(0.7)}) {
      EXPECT_LT(p.error(p.result(beta), beta), 3 * epsilon) << M << ", " << N << ", " << K;
      EXPECT_EQ(p.result(beta), p.packed_result(beta));
    }
  }
}

/// Two parts or three products would give 2^-16.
TEST_F(MatrixUnits, KeepTheLastBitsOfAFactor) {
  const std::size_t n = 64;
  std::vector<real> a = noise(n * n, 1), one(n * n), y(n * n);
  for (std::size_t i = 0; i < n; ++i) one[i * n + i] = 1;
  amx_product(n, n, n, {a.data(), n}, {one.data(), n}, 0, y.data(), n);
  EXPECT_EQ(y, a);
  amx_product(n, n, n, {one.data(), n}, {a.data(), n}, 0, y.data(), n);
  EXPECT_EQ(y, a);
}

TEST_F(MatrixUnits, TakeBothOrientations) {
  for (const auto& [M, N, K] : shapes) {
    const Product p{M, N, K};
    const std::vector<real> a = flipped(p.a, M, K), b = flipped(p.b, K, N);
    std::vector<real> y = p.c, parts(parts_size(N, K));
    amx_product(M, N, K, {a.data(), M, transposed}, {b.data(), K, transposed}, 1, y.data(), N);
    EXPECT_EQ(y, p.result(1));
    y = p.c;
    pack_right(N, K, {b.data(), K, transposed}, parts.data());
    multiply_by_packed(M, N, K, p.a.data(), K, parts.data(), 1, y.data(), N);
    EXPECT_EQ(y, p.result(1));
  }
}

TEST_F(MatrixUnits, ARowHasTheSameBitsInEveryTile) {
  const Product p{150, 77, 261};
  const std::vector<real> all = p.result(0);
  for (std::size_t i = 0; i < p.M; ++i) {
    std::vector<real> row(p.N);
    amx_product(1, p.N, p.K, {p.a.data() + i * p.K, p.K}, {p.b.data(), p.N}, 0, row.data(), p.N);
    for (std::size_t j = 0; j < p.N; ++j) ASSERT_EQ(row[j], all[i * p.N + j]) << i << ", " << j;
  }
}

/// The smallest parts of numbers near the bottom of the range may be lost.
TEST_F(MatrixUnits, HoldTheRangeOfFloat) {
  const std::size_t n = 64;
  for (const float size : {1e-30f, 1e-10f, 1e10f, 1e30f}) {
    Product p{n, n, n};
    for (real& u : p.a) u *= size;
    for (real& u : p.b) u /= size;
    EXPECT_LT(p.error(p.result(0), 0), 1e-6) << size;
  }
}

TEST_F(MatrixUnits, LetNothingInfiniteVanish) {
  const std::size_t n = 64;
  constexpr real infinity = std::numeric_limits<real>::infinity();
  for (const real bad : {infinity, -infinity, std::numeric_limits<real>::quiet_NaN()}) {
    Product p{n, n, n};
    p.a[3 * n + 5] = bad;
    const std::vector<real> y = p.result(0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) EXPECT_EQ(std::isfinite(y[i * n + j]), i != 3);
    }
  }
}

TEST_F(MatrixUnits, ServeLargeProductsOnly) {
  EXPECT_TRUE(is_amx_product(64, 128, 64));
  EXPECT_FALSE(is_amx_product(63, 128, 64));
  EXPECT_FALSE(is_amx_product(64, 32, 64));
  EXPECT_FALSE(is_amx_product(64, 128, 32));
}

}  // namespace matrix_units_test
}  // namespace bochner::inline BOCHNER_PRECISION
