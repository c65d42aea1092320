#include <bochner/base/numeric/symmetric_eigen.hpp>
#include <stdexcept>

extern "C" void dsyevd_(const char* job, const char* uplo, const int* n, double* a, const int* lda,
                        double* w, double* work, const int* lwork, int* iwork, const int* liwork,
                        int* info);

namespace bochner {

std::vector<double> symmetric_eigen(std::size_t n, double* a) {
  // The lower triangle by rows is the upper one by columns.
  const int size = int(n), floats = 1 + 6 * size + 2 * size * size, integers = 3 + 5 * size;
  std::vector<double> values(n), work(static_cast<std::size_t>(floats));
  std::vector<int> indices(static_cast<std::size_t>(integers));
  int info = 0;
  dsyevd_("V", "U", &size, a, &size, values.data(), work.data(), &floats, indices.data(), &integers,
          &info);
  if (info != 0) throw std::domain_error("a matrix has no eigenvectors that LAPACK finds");
  return values;
}

}  // namespace bochner
