#include <algorithm>
#include <bochner/autodiff/compute/eigen.hpp>
#include <bochner/autodiff/ops/linalg.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Tensor orthogonalize(const Tensor& a) {
  require(a.dimension() == 2 && a.shape()[0] == a.shape()[1], "orthogonalize",
          "the matrix must be square: a ", a.shape());
  if (a.size() == 0) return a;
  const std::vector<double> q = orthonormal_factor({a.begin(), a.end()}, a.shape()[0]);
  Tensor result = uninitialized(a.shape());
  std::copy(q.begin(), q.end(), result.data());
  return result;
}

}  // namespace bochner::inline BOCHNER_PRECISION
