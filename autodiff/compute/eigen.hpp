#pragma once
/// Small matrices (n, n) in double and row-major order, by LAPACK and BLAS.

#include <cstddef>
#include <vector>

namespace bochner {

/// A = Q diag(values) Q^T for a symmetric A (n, n); values ascend, column i of Q belongs to value
/// i.
struct SymmetricEigen {
  std::vector<double> values;   // (n)
  std::vector<double> vectors;  // (n, n): vectors[i * n + j] is component i of vector j
};
SymmetricEigen symmetric_eigen(const std::vector<double>& a, std::size_t n);

/// Q of A = Q R with an orthonormal Q (n, n) and a diagonal of R that is not negative, so that Q is
/// uniformly distributed where A is normal.
std::vector<double> orthonormal_factor(const std::vector<double>& a, std::size_t n);

/// A B. (n, n), (n, n) -> (n, n)
std::vector<double> square_product(const std::vector<double>& a, const std::vector<double>& b,
                                   std::size_t n);

/// x with A x = b. (n, n), (n) -> (n)
std::vector<double> solve(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace bochner
