#pragma once
/// OpenBLAS serves products in double, and by LAPACK small matrices (n, n) in double and row-major
/// order.

#include <cstddef>
#include <string>
#include <vector>

namespace bochner {

struct GemmBackend {
  std::string name;     ///< "oneDNN 2.6.3" or "OpenBLAS 0.3.21"
  std::string kernel;   ///< instruction set or core name in use
  std::string warning;  ///< empty, or what is wrong and what to do
};

/// What it is, put on one thread and a mis-detected one repaired. Who calculates with it begins
/// with require_openblas().
const GemmBackend& start_openblas();

/// Starts it for as many threads that call it at the same time. Throws std::bad_alloc where its
/// buffers do not fit into the address space: it would ask for them again without end.
void require_openblas(std::size_t threads = 1);

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
