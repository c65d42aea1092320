#include <algorithm>
#include <bochner/autodiff/compute/eigen.hpp>
#include <bochner/train/laboratory/definiteness.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

Definiteness definiteness_of(const Tensor& gram) {
  const std::size_t n = gram.shape()[0];
  require(gram.dimension() == 2 && gram.shape()[1] == n, "definiteness", "of a ", gram.shape(),
          " array: it must be a square matrix");
  std::vector<double> symmetric(n * n);
  double odd = 0, even = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double a = double(gram.data()[i * n + j]), b = double(gram.data()[j * n + i]);
      symmetric[i * n + j] = (a + b) / 2;
      odd += (a - b) * (a - b);
      even += (a + b) * (a + b);
    }
  const std::vector<double> values = symmetric_eigen(symmetric, n).values;
  const double largest = std::max(std::fabs(values.front()), std::fabs(values.back()));
  return {largest > 0 ? values.front() / largest : 0, even > 0 ? std::sqrt(odd / even) : 0};
}

}  // namespace bochner::inline BOCHNER_PRECISION
