#pragma once
/// Sums whose order is a function of the size only, in several lanes; broadcasting undone in one
/// place.

#include <algorithm>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/tensor.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Sum of n elements in 16 lanes joined as a tree.
real sum_row(const real* x, std::size_t n);
/// Sum of products of n elements in 16 lanes joined as a tree.
real dot_row(const real* x, const real* y, std::size_t n);
/// Sum of term(x[j]) by sum_row(), so many terms at a time.
template <std::size_t block, class Term>
real sum_terms(const real* x, std::size_t n, const Term& term) {
  real values[block], total = 0;
  for (std::size_t begin = 0; begin < n; begin += block) {
    const std::size_t count = std::min(block, n - begin);
    for (std::size_t j = 0; j < count; ++j) values[j] = term(x[begin + j]);
    total += sum_row(values, count);
  }
  return total;
}
/// Largest of n >= 1 elements; NaN if one of them is NaN.
real max_row(const real* x, std::size_t n);
/// ln sum e^x = largest + log_sum; x - largest is exact where e^(x - largest) matters.
struct LogSumExp {
  real largest, log_sum;
  real log_softmax(real x) const { return (x - largest) - log_sum; }
};

/// Of n >= 1 elements; NaN if one is NaN or +infinite, or if all are -infinite.
inline LogSumExp log_sum_exp_row(const real* x, std::size_t n) {
  const real largest = max_row(x, n);
  const auto exponential = [largest](real u) { return math::exp(u - largest); };
  return {largest, math::log(sum_terms<512>(x, n, exponential))};
}
/// Sum of squares in double, chunks joined in order.
double sum_of_squares(const real* x, std::size_t n);
/// Whether no element is NaN or infinite.
bool all_finite(const real* x, std::size_t n);
/// y[j] += sum over rows i of x[i, j], in parallel chunks of rows joined in order.
void accumulate_columns(const real* x, std::size_t rows, std::size_t columns, real* y);
/// Sum of the axes marked in `reduced`; y receives one element for each position on the others.
void sum_axes(const Tensor& x, const std::vector<bool>& reduced, real* y);
/// Sums of x[i], x[i + n], x[i + 2 n], .. in order, for the n elements of the result.
Tensor sum_repeats(const std::vector<double>& x, const Shape& shape);
/// The adjoint of broadcasting: sums the axes of x over which `shape` was broadcast to x.shape().
Tensor sum_to_shape(const Tensor& x, const Shape& shape);

}  // namespace bochner::inline BOCHNER_PRECISION
