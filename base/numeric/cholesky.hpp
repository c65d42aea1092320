#pragma once
/// Tiled parallel algebra on large symmetric (n, n) matrices in double, row-major. Tiles depend on
/// n only, so results are bit-equal for any number of threads.

#include <cstddef>
#include <stdexcept>

namespace bochner {

/// A matrix has no Cholesky factor: the pivot of this row is not positive.
struct NotPositiveDefinite : std::domain_error {
  NotPositiveDefinite(std::size_t row, std::size_t rows, double pivot);
  double pivot;
};

/// Replaces the lower triangle of A by L, A = L L^T. Reads nothing above the diagonal; overwrites
/// the upper part of the diagonal tiles with unspecified values. Throws NotPositiveDefinite.
void cholesky(std::size_t n, double* a);

/// Solves L x = b and L^T x = b in place. L (n, n), b (n, columns)
void solve_lower(std::size_t n, const double* factor, std::size_t columns, double* b);
void solve_lower_transposed(std::size_t n, const double* factor, std::size_t columns, double* b);

/// Replaces L by the lower triangle of (L L^T)^-1; needs n^2 numbers of extra memory.
void invert_from_factor(std::size_t n, double* factor);

double log_determinant_of_factor(std::size_t n, const double* factor);

/// Adds a^T a to the lower triangle of c. a (rows, columns), c (columns, columns)
void accumulate_gram(std::size_t rows, std::size_t columns, const double* a, double* c);

/// Computes c = op(a) b + beta c. a (M, K), or (K, M) if transposed; b (K, N), c (M, N)
void multiply(std::size_t M, std::size_t N, std::size_t K, const double* a, bool transpose_a,
              const double* b, double beta, double* c);

}  // namespace bochner
