#pragma once
#include <cstddef>
#include <vector>

namespace bochner {

/// Replaces a symmetric (n, n) matrix, of which the lower triangle is read, by its eigenvectors as
/// rows, and returns the eigenvalues, ascending. Throws std::domain_error where LAPACK finds none,
/// as for entries that are not finite.
std::vector<double> symmetric_eigen(std::size_t n, double* a);

}  // namespace bochner
