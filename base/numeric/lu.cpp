#include <algorithm>
#include <bochner/base/numeric/lu.hpp>
#include <bochner/base/text.hpp>
#include <cmath>
#include <stdexcept>
#include <string>

namespace bochner {
namespace {

/// Computes y -= factor x.
void subtract(std::size_t n, double factor, const double* x, double* y) {
  for (std::size_t j = 0; j < n; ++j) y[j] -= factor * x[j];
}

void divide(std::size_t n, double divisor, double* y) {
  for (std::size_t j = 0; j < n; ++j) y[j] /= divisor;
}

}  // namespace

LuFactors::LuFactors(std::size_t n, std::vector<double> a) : n_(n), a_(std::move(a)), swaps_(n) {
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(row(i)[k]) > std::abs(row(pivot)[k])) pivot = i;
    swaps_[k] = pivot;
    std::swap_ranges(a_.begin() + std::ptrdiff_t(k * n), a_.begin() + std::ptrdiff_t((k + 1) * n),
                     a_.begin() + std::ptrdiff_t(pivot * n));
    const double top = row(k)[k];
    if (!(std::abs(top) > 0 && std::isfinite(top)))
      throw std::domain_error("the matrix is singular: pivot " + std::to_string(k + 1) + " of " +
                              std::to_string(n) + " is " + three_digits(top));
    for (std::size_t i = k + 1; i < n; ++i) {
      double* to = a_.data() + i * n;
      to[k] /= top;
      subtract(n - k - 1, to[k], row(k) + k + 1, to + k + 1);
    }
  }
}

void LuFactors::solve(std::size_t columns, double* b) const {
  for (std::size_t k = 0; k < n_; ++k)
    if (swaps_[k] != k)
      std::swap_ranges(b + k * columns, b + (k + 1) * columns, b + swaps_[k] * columns);
  for (std::size_t i = 0; i < n_; ++i)
    for (std::size_t k = 0; k < i; ++k)
      subtract(columns, row(i)[k], b + k * columns, b + i * columns);
  for (std::size_t i = n_; i-- > 0;) {
    for (std::size_t k = i + 1; k < n_; ++k)
      subtract(columns, row(i)[k], b + k * columns, b + i * columns);
    divide(columns, row(i)[i], b + i * columns);
  }
}

void LuFactors::solve_transposed(std::size_t columns, double* b) const {
  for (std::size_t k = 0; k < n_; ++k) {
    divide(columns, row(k)[k], b + k * columns);
    for (std::size_t i = k + 1; i < n_; ++i)
      subtract(columns, row(k)[i], b + k * columns, b + i * columns);
  }
  for (std::size_t k = n_; k-- > 0;)
    for (std::size_t i = 0; i < k; ++i)
      subtract(columns, row(k)[i], b + k * columns, b + i * columns);
  for (std::size_t k = n_; k-- > 0;)
    if (swaps_[k] != k)
      std::swap_ranges(b + k * columns, b + (k + 1) * columns, b + swaps_[k] * columns);
}

}  // namespace bochner
