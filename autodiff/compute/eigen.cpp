#include <bochner/autodiff/compute/eigen.hpp>
#include <bochner/autodiff/compute/gemm.hpp>
#include <xtensor-blas/xlinalg.hpp>

namespace bochner::inline BOCHNER_PRECISION {

SymmetricEigen symmetric_eigen(const std::vector<double>& a, std::size_t n) {
  if (n == 0) return {};
  gemm_backend();  // LAPACK runs on OpenBLAS: repaired and on one thread
  xt::xarray<double> matrix = xt::zeros<double>({n, n});
  for (std::size_t i = 0; i < n * n; ++i) matrix(i / n, i % n) = a[i];
  const auto [values, vectors] = xt::linalg::eigh(matrix);
  SymmetricEigen result{std::vector<double>(n), std::vector<double>(n * n)};
  for (std::size_t i = 0; i < n; ++i) result.values[i] = values(i);
  for (std::size_t i = 0; i < n * n; ++i) result.vectors[i] = vectors(i / n, i % n);
  return result;
}

}  // namespace bochner::inline BOCHNER_PRECISION
