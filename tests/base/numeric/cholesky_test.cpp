#include <gtest/gtest.h>

#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <cmath>
#include <vector>

namespace bochner {
namespace cholesky_test {

using Matrix = std::vector<double>;

/// Around the tiles of 128.
constexpr std::size_t sizes[] = {1, 5, 127, 128, 129, 300};

Matrix random_matrix(std::size_t rows, std::size_t columns, std::uint64_t stream) {
  const RandomFunction random{7, Purpose::test, stream};
  Matrix matrix(rows * columns);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = random.normal(i);
  return matrix;
}

/// B B^T / n + I
Matrix positive_matrix(std::size_t n) {
  const Matrix b = random_matrix(n, n, n);
  Matrix a(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) a[i * n + j] += b[i * n + k] * b[j * n + k] / double(n);
      if (i == j) a[i * n + j] += 1;
    }
  return a;
}

/// The lower triangle of a, and zeros.
Matrix lower(Matrix a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    std::fill_n(a.begin() + std::ptrdiff_t(i * n + i + 1), n - i - 1, 0.0);
  return a;
}

Matrix factor_of(Matrix a, std::size_t n) {
  cholesky(n, a.data());
  return lower(std::move(a), n);
}

TEST(Cholesky, FactorsTimesThemselvesAreTheMatrix) {
  for (const std::size_t n : sizes) {
    const Matrix a = positive_matrix(n), l = factor_of(a, n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k <= j; ++k) sum += l[i * n + k] * l[j * n + k];
        ASSERT_NEAR(sum, a[i * n + j], 1e-12) << n << ": " << i << ", " << j;
      }
  }
}

TEST(Cholesky, ReadsTheLowerTriangleOnly) {
  const std::size_t n = 300;
  Matrix a = positive_matrix(n), half = lower(a, n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) half[i * n + j] = std::nan("");
  cholesky(n, half.data());
  EXPECT_EQ(lower(half, n), factor_of(a, n));
}

TEST(Cholesky, SolvesAndInverts) {
  for (const std::size_t n : sizes) {
    const Matrix a = positive_matrix(n), b = random_matrix(n, 70, 1);
    Matrix l = factor_of(a, n), x = b;
    solve_lower(n, l.data(), 70, x.data());
    solve_lower_transposed(n, l.data(), 70, x.data());
    invert_from_factor(n, l.data());
    for (std::size_t i = 0; i < n; ++i)
      for (const std::size_t c : {0u, 69u}) {
        double product = 0, solved = 0;
        for (std::size_t k = 0; k < n; ++k) {
          product += a[i * n + k] * x[k * 70 + c];
          solved += l[std::max(i, k) * n + std::min(i, k)] * b[k * 70 + c];
        }
        ASSERT_NEAR(product, b[i * 70 + c], 1e-11) << n;
        ASSERT_NEAR(solved, x[i * 70 + c], 1e-11) << n;
      }
  }
}

/// det of a triangular matrix times itself.
TEST(Cholesky, KnowsTheDeterminant) {
  const Matrix l{2, 0, 5, 3};
  EXPECT_NEAR(log_determinant_of_factor(2, l.data()), std::log(36), 1e-15);
}

TEST(Cholesky, NamesTheFirstPivotThatIsNotPositive) {
  const std::size_t n = 200;
  Matrix a = positive_matrix(n);
  a[150 * n + 150] = -3;
  try {
    cholesky(n, a.data());
    FAIL() << "it has no factor";
  } catch (const NotPositiveDefinite& error) {
    EXPECT_NE(std::string(error.what()).find("pivot 151 of 200 is -3"), std::string::npos)
        << error.what();
    EXPECT_LT(error.pivot, -3);
  }
}

TEST(Cholesky, BitsDoNotDependOnThreads) {
  const std::size_t n = 300;
  std::vector<Matrix> results;
  for (const std::size_t threads : {1, 2, 3}) {
    set_thread_count(threads);
    Matrix l = factor_of(positive_matrix(n), n);
    results.push_back(l);
    invert_from_factor(n, l.data());
    results.back().insert(results.back().end(), l.begin(), l.end());
  }
  set_thread_count(0);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Products, AreSumsOfProducts) {
  const std::size_t K = 77, M = 130, N = 9;
  const Matrix a = random_matrix(K, M, 1), b = random_matrix(K, N, 2);
  Matrix gram(M * M, 1), c(M * N, 2);
  accumulate_gram(K, M, a.data(), gram.data());
  multiply(M, N, K, a.data(), true, b.data(), 1, c.data());
  for (std::size_t i = 0; i < M; ++i) {
    double square = 1, product = 2;
    for (std::size_t k = 0; k < K; ++k) {
      square += a[k * M + i] * a[k * M];
      product += a[k * M + i] * b[k * N + 3];
    }
    EXPECT_NEAR(gram[i * M], square, 1e-12);
    EXPECT_NEAR(c[i * N + 3], product, 1e-12);
  }
}

}  // namespace cholesky_test
}  // namespace bochner
