#include <algorithm>
#include <bochner/train/kernel_study/definiteness.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using Matrix = std::vector<double>;

/// Rotates rows and columns p and q so that the element (p, q) becomes 0.
void rotate(Matrix& a, std::size_t n, std::size_t p, std::size_t q) {
  const double off = a[p * n + q];
  if (off == 0) return;
  const double ratio = (a[q * n + q] - a[p * n + p]) / (2 * off);
  const double tangent = std::copysign(1, ratio) / (std::fabs(ratio) + std::hypot(ratio, 1));
  const double cosine = 1 / std::hypot(tangent, 1), sine = tangent * cosine;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = a[i * n + p], y = a[i * n + q];
    a[i * n + p] = cosine * x - sine * y;
    a[i * n + q] = sine * x + cosine * y;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double x = a[p * n + i], y = a[q * n + i];
    a[p * n + i] = cosine * x - sine * y;
    a[q * n + i] = sine * x + cosine * y;
  }
}

double off_diagonal(const Matrix& a, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (i / n != i % n) sum += a[i] * a[i];
  return sum;
}

}  // namespace

std::vector<double> symmetric_eigenvalues(const Tensor& matrix) {
  const std::size_t n = matrix.shape()[0];
  require(matrix.dimension() == 2 && matrix.shape()[1] == n, "eigenvalues", "of a ", matrix.shape(),
          " array: it must be a square matrix");
  Matrix a(matrix.data(), matrix.data() + matrix.size());
  double size = off_diagonal(a, n);
  for (std::size_t i = 0; i < n; ++i) size += a[i * n + i] * a[i * n + i];
  for (int sweep = 0; sweep < 60 && off_diagonal(a, n) > 1e-28 * size; ++sweep)
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) rotate(a, n, p, q);
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = a[i * n + i];
  std::sort(values.begin(), values.end());
  return values;
}

Definiteness definiteness_of(const Tensor& gram) {
  const std::size_t n = gram.shape()[0];
  Tensor symmetric = uninitialized(gram.shape());
  double odd = 0, even = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double a = double(gram.data()[i * n + j]), b = double(gram.data()[j * n + i]);
      symmetric.data()[i * n + j] = real((a + b) / 2);
      odd += (a - b) * (a - b);
      even += (a + b) * (a + b);
    }
  const std::vector<double> values = symmetric_eigenvalues(symmetric);
  const double largest = std::max(std::fabs(values.front()), std::fabs(values.back()));
  return {largest > 0 ? values.front() / largest : 0, even > 0 ? std::sqrt(odd / even) : 0};
}

}  // namespace bochner::inline BOCHNER_PRECISION
