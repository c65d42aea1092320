#pragma once
/// Sums and maxima of a row in 16 lanes joined as a tree: the order is a function of the length
/// only, so the bits are the same for every register width.

#include <algorithm>
#include <bochner/autodiff/compute/math.hpp>
#include <cstddef>

namespace bochner::inline BOCHNER_PRECISION {

real sum_row(const real* x, std::size_t n);
real dot_row(const real* x, const real* y, std::size_t n);
/// Returns the sum of (x - centre)^2 of n elements.
real spread_row(const real* x, std::size_t n, real centre);
/// Returns the sum of squares of n elements in double.
double square_row(const real* x, std::size_t n);
/// Returns the maximum of n >= 1 elements; NaN if one is NaN.
real max_row(const real* x, std::size_t n);
/// Returns the maximum in half the time; may ignore NaN.
real max_of_numbers(const real* x, std::size_t n);
/// Computes sum_row(), dot_row() and max_of_numbers() of rows `stride` apart with the same bits, as
/// many at a time as a vector has lanes: half the time for rows of 16 to 64.
void sum_each_row(std::size_t rows, std::size_t n, const real* x, std::size_t stride, real* sums);
void dot_each_row(std::size_t rows, std::size_t n, const real* x, std::size_t x_stride,
                  const real* y, std::size_t y_stride, real* sums);
void largest_of_each_row(std::size_t rows, std::size_t n, const real* x, std::size_t stride,
                         real* largest);
bool finite_row(const real* x, std::size_t n);

/// Returns the sum_row() of term(x[j]) in blocks; the terms are stored at place(begin, count).
template <std::size_t block, class Term, class Place>
real sum_terms(const real* x, std::size_t n, const Term& term, const Place& place) {
  real total = 0;
  for (std::size_t begin = 0; begin < n; begin += block) {
    const std::size_t count = std::min(block, n - begin);
    real* __restrict values = place(begin, count);
    for (std::size_t j = 0; j < count; ++j) values[j] = term(x[begin + j]);
    total += sum_row(values, count);
  }
  return total;
}
/// Returns the sum of terms without storing them.
template <std::size_t block, class Term>
real sum_terms(const real* x, std::size_t n, const Term& term) {
  real values[block];
  return sum_terms<block>(x, n, term, [&](std::size_t, std::size_t) { return values; });
}

inline real exponential_below(real x, real largest) {
  return math::exp2_nonpositive((x - largest) * log2_e);
}

/// ln sum e^x = largest + log_sum; x - largest is exact where e^(x - largest) matters.
struct LogSumExp {
  real largest, sum, log_sum;
  real log_softmax(real x) const { return (x - largest) - log_sum; }
  /// Returns e^(x - largest), one term of `sum`.
  real exponential(real x) const { return exponential_below(x, largest); }
};

/// Exponentials of a row per partial sum.
inline constexpr std::size_t exponential_block = 512;

/// Computes LogSumExp of n >= 1 elements; writes the exponentials to `place` if given, see
/// sum_terms(). NaN if one element is NaN or +infinite, or if all are -infinite.
template <class... Place>
LogSumExp log_sum_exp_row(const real* x, std::size_t n, const Place&... place) {
  LogSumExp total{max_of_numbers(x, n), 0, 0};  // sum is NaN if an element is
  const auto exponential = [total](real u) { return total.exponential(u); };
  total.sum = sum_terms<exponential_block>(x, n, exponential, place...);
  total.log_sum = math::log(total.sum);
  return total;
}

}  // namespace bochner::inline BOCHNER_PRECISION
