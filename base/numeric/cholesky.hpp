#pragma once
/// Large symmetric matrices (n, n) in double, row-major, by tiles in parallel. Tiles are a function
/// of n only, so that equal matrices give equal bits for any number of threads.

#include <cstddef>
#include <stdexcept>

namespace bochner {

/// Thrown where a matrix has no Cholesky factor: the pivot of this row is not above 0.
struct NotPositiveDefinite : std::domain_error {
  NotPositiveDefinite(std::size_t row, std::size_t rows, double pivot);
  double pivot;
};

/// L of A = L L^T in the place of the lower triangle of A; nothing above the diagonal is read, and
/// of what is there only the tiles on the diagonal are overwritten, with what nobody reads. Throws
/// NotPositiveDefinite.
void cholesky(std::size_t n, double* a);

/// b = L^-1 b and b = L^-T b of a factor, in place. L (n, n), b (n, columns)
void solve_lower(std::size_t n, const double* factor, std::size_t columns, double* b);
void solve_lower_transposed(std::size_t n, const double* factor, std::size_t columns, double* b);

/// (L L^T)^-1 in the place of L, lower triangle; takes n^2 numbers of memory besides.
void invert_from_factor(std::size_t n, double* factor);

/// ln det(L L^T)
double log_determinant_of_factor(std::size_t n, const double* factor);

/// c += a^T a for a (rows, columns), lower triangle. -> (columns, columns)
void accumulate_gram(std::size_t rows, std::size_t columns, const double* a, double* c);

/// c = a b + beta c, or with a transposed: a (M, K) or (K, M), b (K, N), c (M, N), rows of c in
/// parallel.
void multiply(std::size_t M, std::size_t N, std::size_t K, const double* a, bool transpose_a,
              const double* b, double beta, double* c);

}  // namespace bochner
