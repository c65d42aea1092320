#pragma once
/// Softmax of a few numbers in double, off the tape; rows of arrays: row_sums.hpp.

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace bochner {

/// ln sum e^x of one number or more.
template <class Number>
double log_sum_exp(std::span<const Number> x) {
  const double largest = double(*std::max_element(x.begin(), x.end()));
  double sum = 0;
  for (const Number each : x) sum += std::exp(double(each) - largest);
  return largest + std::log(sum);
}

/// x becomes e^x / sum e^x, of one number or more. Returns ln of the sum.
inline double to_softmax(std::span<double> x) {
  const double largest = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double& each : x) sum += each = std::exp(each - largest);
  for (double& each : x) each /= sum;
  return largest + std::log(sum);
}

/// The same of a copy.
inline std::vector<double> softmax_of(std::vector<double> x) {
  to_softmax(x);
  return x;
}

}  // namespace bochner
