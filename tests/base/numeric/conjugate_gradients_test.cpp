#include <gtest/gtest.h>

#include <bochner/base/numeric/conjugate_gradients.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <cmath>
#include <numeric>

namespace bochner {
namespace conjugate_gradients_test {

using Numbers = std::vector<double>;

Numbers normals(std::size_t count, std::uint64_t stream) {
  const RandomFunction random{7, Purpose::test, stream};
  Numbers numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = random.normal(i);
  return numbers;
}

/// B B^T + noise I for B (n, rank).
Numbers covariance(std::size_t n, std::size_t rank, double noise) {
  const Numbers b = normals(n * rank, 1);
  Numbers a(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < rank; ++k) a[i * n + j] += b[i * rank + k] * b[j * rank + k];
      if (i == j) a[i * n + j] += noise;
    }
  return a;
}

BlockOperator times(const Numbers& a, std::size_t n, std::size_t columns) {
  return [=](const Numbers& x) {
    Numbers y(n * columns);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t c = 0; c < columns; ++c)
          y[i * columns + c] += a[i * n + j] * x[j * columns + c];
    return y;
  };
}

double largest_error(const Numbers& a, const Numbers& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST(ConjugateGradients, AreExactInAsManySteps) {
  const std::size_t n = 12, columns = 3;
  const Numbers a = covariance(n, n, 1), b = normals(n * columns, 2);
  const LinearSystem system{.apply = times(a, n, columns), .columns = columns, .max_steps = n};
  const LinearSolution found = conjugate_gradients(system, Numbers(n * columns), b);
  EXPECT_LT(largest_error(times(a, n, columns)(found.x), b), 1e-9);
  for (const Numbers& alphas : found.alphas) EXPECT_LE(alphas.size(), n);
}

/// Directions are conjugate: d_i^T A d_j = 0.
TEST(ConjugateGradients, TurnToDirectionsThatAreConjugate) {
  const std::size_t n = 12;
  const BlockOperator multiply = times(covariance(n, n, 1), n, 1);
  std::vector<Numbers> directions, products;
  const LinearSystem system{.apply =
                                [&](const Numbers& direction) {
                                  directions.push_back(direction);
                                  products.push_back(multiply(direction));
                                  return products.back();
                                },
                            .columns = 1,
                            .max_steps = n - 1};
  conjugate_gradients(system, Numbers(n), normals(n, 2));
  ASSERT_GE(directions.size(), 4u);
  const auto product = [&](std::size_t i, std::size_t j) {
    return std::inner_product(directions[i].begin(), directions[i].end(), products[j].begin(), 0.0);
  };
  for (std::size_t i = 0; i < directions.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_LT(std::abs(product(i, j)), 1e-8 * std::sqrt(product(i, i) * product(j, j)))
          << i << ", " << j;
}

TEST(ConjugateGradients, RefuseWhatTheyCannotSolveWhereStrict) {
  const Numbers a{1, 0, 0, -1}, b{1, 2}, c = covariance(12, 12, 1);
  LinearSystem system{.apply = times(a, 2, 1), .strict = true};
  EXPECT_THROW(conjugate_gradients(system, Numbers(2), b), std::domain_error);
  system = {.apply = times(c, 12, 1), .max_steps = 3, .strict = true};
  EXPECT_THROW(conjugate_gradients(system, Numbers(12), normals(12, 2)), std::domain_error);
  system.max_steps = 12;
  system.tolerance = 1e-12;
  EXPECT_NO_THROW(conjugate_gradients(system, Numbers(12), normals(12, 2)));
}

/// Of a matrix with k different eigenvalues k steps are enough.
TEST(ConjugateGradients, NeedAStepForEachEigenvalue) {
  const std::size_t n = 30;
  const Numbers a = covariance(n, 2, 0.5), b = normals(n, 2);
  const LinearSystem system{.apply = times(a, n, 1)};
  EXPECT_EQ(conjugate_gradients(system, Numbers(n), b).alphas[0].size(), 3u);
}

TEST(ConjugateGradients, GoOnFromWhereTheyAreStarted) {
  const std::size_t n = 10;
  const Numbers a = covariance(n, n, 1), b = normals(n, 2), x0 = normals(n, 3);
  Numbers residual = times(a, n, 1)(x0);
  for (std::size_t i = 0; i < n; ++i) residual[i] = b[i] - residual[i];
  const LinearSystem system{.apply = times(a, n, 1)};
  EXPECT_LT(largest_error(times(a, n, 1)(conjugate_gradients(system, x0, residual).x), b), 1e-9);
}

/// With the matrix itself for a preconditioner one step does it.
TEST(ConjugateGradients, NeedFewerStepsWithAPreconditioner) {
  const std::size_t n = 40, columns = 2;
  const Numbers a = covariance(n, 5, 0.01), b = normals(n * columns, 2);
  Numbers diagonal(n);
  for (std::size_t i = 0; i < n; ++i) diagonal[i] = a[i * n + i] - 0.01;
  const LowRankPlusNoise near(n,
                              pivoted_cholesky(n, diagonal, 10, 1e-10,
                                               [&](std::size_t i, double* row) {
                                                 for (std::size_t j = 0; j < n; ++j)
                                                   row[j] = a[i * n + j] - (i == j ? 0.01 : 0);
                                               }),
                              0.01);
  EXPECT_EQ(near.rank(), 5u);
  LinearSystem system{.apply = times(a, n, columns), .columns = columns};
  system.precondition = [&](const Numbers& r) { return near.solve(r, columns); };
  const LinearSolution found = conjugate_gradients(system, Numbers(n * columns), b);
  EXPECT_LE(found.alphas[0].size(), 2u);
  EXPECT_LT(largest_error(times(a, n, columns)(found.x), b), 1e-8);
}

/// L L^T + noise I against its own definition: solutions, and draws of its square root.
TEST(LowRankPlusNoise, IsWhatItSays) {
  const std::size_t n = 9, rank = 3;
  const double noise = 0.3;
  const Numbers factor = normals(n * rank, 1);
  const LowRankPlusNoise p(n, factor, noise);
  const Numbers whole = covariance(n, rank, noise), b = normals(n * 2, 2);
  EXPECT_LT(largest_error(times(whole, n, 2)(p.solve(b, 2)), b), 1e-12);
  const Numbers x = normals(rank, 3), y = normals(n, 4), draw = p.colour(x, y, 1);
  double expected = std::sqrt(noise) * y[4];
  for (std::size_t k = 0; k < rank; ++k) expected += factor[4 * rank + k] * x[k];
  EXPECT_NEAR(draw[4], expected, 1e-13);
  EXPECT_NEAR(LowRankPlusNoise(1, {2}, 0.5).log_determinant(), std::log(4.5), 1e-14);
  EXPECT_NEAR(LowRankPlusNoise(3, {}, 0.5).log_determinant(), 3 * std::log(0.5), 1e-14);
}

}  // namespace conjugate_gradients_test
}  // namespace bochner
