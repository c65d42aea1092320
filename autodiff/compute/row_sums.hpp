#pragma once
/// Sums and maxima of a row in 16 lanes joined as a tree: their order is a function of the length
/// only, and their bits are the same for every width of registers.

#include <algorithm>
#include <bochner/autodiff/compute/math.hpp>
#include <cstddef>

namespace bochner::inline BOCHNER_PRECISION {

/// Sum of n elements.
real sum_row(const real* x, std::size_t n);
/// Sum of products of n elements.
real dot_row(const real* x, const real* y, std::size_t n);
/// Sum of (x - centre)^2 of n elements.
real spread_row(const real* x, std::size_t n, real centre);
/// Sum of squares of n elements in double.
double square_row(const real* x, std::size_t n);
/// Largest of n >= 1 elements; NaN if one of them is NaN.
real max_row(const real* x, std::size_t n);
/// The same in half the time, where a NaN may be passed over.
real max_of_numbers(const real* x, std::size_t n);
/// sum_row(), dot_row() and max_of_numbers() of rows that lie `stride` elements apart, with the
/// same bits: as many at a time as a vector has lanes, which takes rows of 16 to 64 half the time.
void sum_each_row(std::size_t rows, std::size_t n, const real* x, std::size_t stride, real* sums);
void dot_each_row(std::size_t rows, std::size_t n, const real* x, std::size_t x_stride,
                  const real* y, std::size_t y_stride, real* sums);
void largest_of_each_row(std::size_t rows, std::size_t n, const real* x, std::size_t stride,
                         real* largest);
/// Whether none of n elements is NaN or infinite.
bool finite_row(const real* x, std::size_t n);

/// Sum of term(x[j]) by sum_row(), so many terms at a time, which are stored at place(begin,
/// count).
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
/// The same of terms that nothing else needs.
template <std::size_t block, class Term>
real sum_terms(const real* x, std::size_t n, const Term& term) {
  real values[block];
  return sum_terms<block>(x, n, term, [&](std::size_t, std::size_t) { return values; });
}

/// e^(x - largest).
inline real exponential_below(real x, real largest) {
  return math::exp2_nonpositive((x - largest) * log2_e);
}

/// ln sum e^x = largest + log_sum; x - largest is exact where e^(x - largest) matters.
struct LogSumExp {
  real largest, sum, log_sum;
  real log_softmax(real x) const { return (x - largest) - log_sum; }
  /// e^(x - largest), of which `sum` is the sum.
  real exponential(real x) const { return exponential_below(x, largest); }
};

/// How many exponentials of a row are summed at a time.
inline constexpr std::size_t exponential_block = 512;

/// Of n >= 1 elements, whose exponentials go to `place`, if there is one, see sum_terms(); NaN if
/// one is NaN or +infinite, or if all are -infinite.
template <class... Place>
LogSumExp log_sum_exp_row(const real* x, std::size_t n, const Place&... place) {
  LogSumExp total{max_of_numbers(x, n), 0, 0};  // a NaN is in the sum
  const auto exponential = [total](real u) { return total.exponential(u); };
  total.sum = sum_terms<exponential_block>(x, n, exponential, place...);
  total.log_sum = math::log(total.sum);
  return total;
}

}  // namespace bochner::inline BOCHNER_PRECISION
