#pragma once
/// Sums in chunks whose order depends on the size only, and the adjoint of broadcasting.

#include <bochner/autodiff/compute/row_sums.hpp>
#include <bochner/autodiff/tensor.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns the sum of squares in double, chunks joined in order.
double sum_of_squares(const real* x, std::size_t n);
bool all_finite(const real* x, std::size_t n);
/// Adds every row of x to y: y[j] += x[i, j], on the calling thread.
inline void add_rows(const real* __restrict x, std::size_t rows, std::size_t columns,
                     real* __restrict y) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) y[j] += x[i * columns + j];
  }
}
/// Adds the column sums of x to y, in parallel chunks of rows joined in order.
void accumulate_columns(const real* x, std::size_t rows, std::size_t columns, real* y);
/// Adds to y (columns) what body(begin, end, sum) adds to a zeroed `sum` for each chunk of `grain`
/// rows, in parallel, joined in order.
template <class Body>
void accumulate_in_chunks(std::size_t rows, std::size_t grain, std::size_t columns, real* y,
                          const Body& body) {
  const std::size_t chunks = ceil_div(rows, grain);
  Tensor sums = zeros({chunks, columns});
  parallel_for(rows, grain, [&](std::size_t begin, std::size_t end) {
    body(begin, end, sums.data() + begin / grain * columns);
  });
  accumulate_columns(sums.data(), chunks, columns, y);
}
/// Sums the axes marked in `reduced`; y receives one element per position on the others.
void sum_axes(const Tensor& x, const std::vector<bool>& reduced, real* y);
/// Sums x[i], x[i + n], x[i + 2 n], .. in order, for the n elements of the result.
Tensor sum_repeats(const std::vector<double>& x, const Shape& shape);
/// Sums x over the axes that broadcasting from `shape` to x.shape() added or expanded.
Tensor sum_to_shape(const Tensor& x, const Shape& shape);

}  // namespace bochner::inline BOCHNER_PRECISION
