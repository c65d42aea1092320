#pragma once
/// ln sum e^x of a row, in two parts that stay exact for large x.

#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>

namespace bochner::inline BOCHNER_PRECISION {

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

}  // namespace bochner::inline BOCHNER_PRECISION
