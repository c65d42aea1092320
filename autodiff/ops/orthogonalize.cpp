#include <bochner/autodiff/compute/openblas.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <xtensor-blas/xlinalg.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Tensor orthogonalize(const Tensor& a) {
  require(a.dimension() == 2 && a.shape()[0] == a.shape()[1], "orthogonalize",
          "the matrix must be square: a ", a.shape());
  if (a.size() == 0) return a;
  start_openblas();
  const xt::xarray<double> matrix = a;
  const auto [q, r] = xt::linalg::qr(matrix);
  Tensor result = uninitialized(a.shape());
  for (std::size_t i = 0; i < a.shape()[0]; ++i) {
    for (std::size_t j = 0; j < a.shape()[1]; ++j)
      result(i, j) = real(r(j, j) < 0 ? -q(i, j) : q(i, j));
  }
  return result;
}

}  // namespace bochner::inline BOCHNER_PRECISION
