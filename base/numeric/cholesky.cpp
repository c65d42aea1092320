#include <cblas.h>

#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/openblas.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/pool.hpp>
#include <bochner/base/text.hpp>
#include <cmath>

extern "C" void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);

namespace bochner {
namespace {

constexpr std::size_t tile = 128;
constexpr std::size_t columns_per_task = 64;  // of the right-hand sides

std::size_t tiles_of(std::size_t n) { return ceil_div(n, tile); }

/// Returns the number of rows (or columns) of tile i.
int extent(std::size_t n, std::size_t i) { return int(std::min(tile, n - i * tile)); }

/// Returns element (i tile, j tile) of a matrix with n columns.
template <class Number>
Number* at(Number* a, std::size_t n, std::size_t i, std::size_t j) {
  return a + i * tile * n + j * tile;
}

/// Factors the diagonal tile k. LAPACK is column-major, so its upper triangle is our lower one.
void factor_tile(std::size_t n, double* a, std::size_t k) {
  const int size = extent(n, k), stride = int(n);
  int info = 0;
  double* corner = at(a, n, k, k);
  dpotrf_("U", &size, corner, &stride, &info);
  if (info == 0) return;
  const auto row = std::size_t(info - 1);
  throw NotPositiveDefinite(k * tile + row, n, corner[row * n + row]);
}

/// Writes column j of tiles of W = L^-1; tiles above the diagonal are not written.
void invert_columns(std::size_t n, const double* l, std::size_t j, double* w) {
  const int stride = int(n), columns = extent(n, j);
  for (std::size_t i = j; i < tiles_of(n); ++i) {
    const int rows = extent(n, i);
    double* target = at(w, n, i, j);
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column)
        target[std::size_t(row) * n + std::size_t(column)] = i == j && row == column ? 1 : 0;
    if (i > j)
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, int((i - j) * tile), -1,
                  at(l, n, i, j), stride, at(w, n, j, j), stride, 0, target, stride);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, rows, columns, 1,
                at(l, n, i, i), stride, target, stride);
  }
}

void solve_columns(CBLAS_TRANSPOSE transpose, std::size_t n, const double* factor,
                   std::size_t columns, double* b) {
  require_openblas(thread_count());
  parallel_for(columns, columns_per_task, [&](std::size_t begin, std::size_t end) {
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transpose, CblasNonUnit, int(n),
                int(end - begin), 1, factor, int(std::max<std::size_t>(1, n)), b + begin,
                int(columns));
  });
}

}  // namespace

NotPositiveDefinite::NotPositiveDefinite(std::size_t row, std::size_t rows, double value)
    : std::domain_error("the matrix is not positive definite: pivot " + std::to_string(row + 1) +
                        " of " + std::to_string(rows) + " is " + three_digits(value)),
      pivot(value) {}

void cholesky(std::size_t n, double* a) {
  require_openblas(thread_count());
  const int stride = int(n);
  for (std::size_t k = 0; k < tiles_of(n); ++k) {
    const int before = int(k * tile), columns = extent(n, k);
    const auto subtract = [&](std::size_t i) {
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, extent(n, i), columns, before, -1,
                  at(a, n, i, 0), stride, at(a, n, k, 0), stride, 1, at(a, n, i, k), stride);
    };
    if (k > 0) subtract(k);
    factor_tile(n, a, k);
    parallel_each(tiles_of(n) - k - 1, 1, [&](std::size_t below) {
      const std::size_t i = k + 1 + below;
      if (k > 0) subtract(i);
      cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, extent(n, i),
                  columns, 1, at(a, n, k, k), stride, at(a, n, i, k), stride);
    });
  }
}

void solve_lower(std::size_t n, const double* factor, std::size_t columns, double* b) {
  solve_columns(CblasNoTrans, n, factor, columns, b);
}

void solve_lower_transposed(std::size_t n, const double* factor, std::size_t columns, double* b) {
  solve_columns(CblasTrans, n, factor, columns, b);
}

void invert_from_factor(std::size_t n, double* factor) {
  require_openblas(thread_count());
  const std::size_t tiles = tiles_of(n);
  PooledNumbers<double> inverse(n * n);
  parallel_each(tiles, 1, [&](std::size_t j) { invert_columns(n, factor, j, inverse.data()); });
  const int stride = int(n);
  parallel_each(tiles * tiles, 1, [&](std::size_t index) {
    const std::size_t i = index / tiles, j = index % tiles;
    if (j > i) return;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, extent(n, i), extent(n, j),
                int(n - i * tile), 1, at(inverse.data(), n, i, i), stride,
                at(inverse.data(), n, i, j), stride, 0, at(factor, n, i, j), stride);
  });
}

double log_determinant_of_factor(std::size_t n, const double* factor) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::log(factor[i * n + i]);
  return 2 * sum;
}

void accumulate_gram(std::size_t rows, std::size_t columns, const double* a, double* c) {
  require_openblas(thread_count());
  const std::size_t tiles = tiles_of(columns);
  const int stride = int(columns);
  parallel_each(tiles * tiles, 1, [&](std::size_t index) {
    const std::size_t i = index / tiles, j = index % tiles;
    if (j > i) return;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, extent(columns, i), extent(columns, j),
                int(rows), 1, a + i * tile, stride, a + j * tile, stride, 1, at(c, columns, i, j),
                stride);
  });
}

void multiply(std::size_t M, std::size_t N, std::size_t K, const double* a, bool transpose_a,
              const double* b, double beta, double* c) {
  require_openblas(thread_count());
  parallel_for(M, tile, [&](std::size_t begin, std::size_t end) {
    cblas_dgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans, CblasNoTrans,
                int(end - begin), int(N), int(K), 1, a + begin * (transpose_a ? 1 : K),
                int(transpose_a ? M : K), b, int(N), beta, c + begin * N, int(N));
  });
}

}  // namespace bochner
