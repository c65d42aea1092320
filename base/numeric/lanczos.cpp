#include <algorithm>
#include <bochner/base/numeric/lanczos.hpp>
#include <bochner/base/numeric/symmetric_eigen.hpp>
#include <cmath>
#include <numeric>
#include <utility>

namespace bochner {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void scale(std::vector<double>& x, double factor) {
  for (double& one : x) one *= factor;
}

void add(std::vector<double>& y, double factor, const std::vector<double>& x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += factor * x[i];
}

/// Returns the largest eigenvalue of the tridiagonal matrix.
double largest_of(const std::vector<double>& diagonal, const std::vector<double>& off_diagonal) {
  const std::size_t n = diagonal.size();
  std::vector<double> matrix(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    matrix[i * n + i] = diagonal[i];
    if (i > 0) matrix[i * n + i - 1] = off_diagonal[i - 1];
  }
  return symmetric_eigen(n, matrix.data()).back();
}

}  // namespace

double largest_eigenvalue(
    const std::function<std::vector<double>(const std::vector<double>&)>& apply,
    std::vector<double> start, std::size_t iterations) {
  constexpr double rounding = 1e-12;
  std::vector<double> now = std::move(start), before(now.size()), diagonal, off_diagonal;
  scale(now, 1 / std::sqrt(dot(now, now)));
  for (std::size_t i = 0; i < std::min(iterations, now.size()); ++i) {
    std::vector<double> next = apply(now);
    const double size = std::sqrt(dot(next, next));
    diagonal.push_back(dot(now, next));
    add(next, -diagonal.back(), now);
    if (i > 0) add(next, -off_diagonal.back(), before);
    const double norm = std::sqrt(dot(next, next));
    if (!(norm > rounding * size)) break;  // the vectors span an invariant space
    off_diagonal.push_back(norm);
    scale(next, 1 / norm);
    before = std::exchange(now, std::move(next));
  }
  return largest_of(diagonal, off_diagonal);
}

}  // namespace bochner
