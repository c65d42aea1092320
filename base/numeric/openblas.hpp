#pragma once
/// OpenBLAS products in double and LAPACK on small (n, n) matrices, double, row-major.

#include <cstddef>
#include <string>
#include <vector>

namespace bochner {

struct GemmBackend {
  std::string name;     ///< "oneDNN 2.6.3" or "OpenBLAS 0.3.21"
  std::string kernel;   ///< instruction set or core name in use
  std::string warning;  ///< empty, or the problem and the remedy
};

/// Starts OpenBLAS with one thread and corrects its kernel. Users call require_openblas().
const GemmBackend& start_openblas();

/// Starts OpenBLAS for as many concurrent callers. Throws std::bad_alloc if its buffers do not fit
/// into the address space; OpenBLAS itself would retry forever.
void require_openblas(std::size_t threads = 1);

/// Eigendecomposition A = Q diag(values) Q^T of a symmetric A (n, n), values ascending.
struct SymmetricEigen {
  std::vector<double> values;   // (n)
  std::vector<double> vectors;  // (n, n): vectors[i * n + j] is component i of vector j
};
SymmetricEigen symmetric_eigen(const std::vector<double>& a, std::size_t n);

/// Returns the orthonormal Q (n, n) of A = Q R with a non-negative diagonal of R, which makes Q
/// uniformly distributed for a normal A.
std::vector<double> orthonormal_factor(const std::vector<double>& a, std::size_t n);

/// Returns A B for (n, n) matrices.
std::vector<double> square_product(const std::vector<double>& a, const std::vector<double>& b,
                                   std::size_t n);

/// Solves A x = b. A (n, n), b (n)
std::vector<double> solve(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace bochner
