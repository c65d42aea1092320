#pragma once
/// Eigenvectors of symmetric matrices, by LAPACK.

#include <bochner/autodiff/real.hpp>
#include <cstddef>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// A = Q diag(values) Q^T for a symmetric A (n, n) in row-major order; values ascend, column i of Q
/// belongs to value i.
struct SymmetricEigen {
  std::vector<double> values;   // (n)
  std::vector<double> vectors;  // (n, n), row-major: vectors[i * n + j] is component i of vector j
};
SymmetricEigen symmetric_eigen(const std::vector<double>& a, std::size_t n);

}  // namespace bochner::inline BOCHNER_PRECISION
