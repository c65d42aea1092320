#pragma once
/// Softmax of a few numbers in double, without a tape. For rows of arrays see row_sums.hpp.

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace bochner {

/// Returns ln sum e^x; x is not empty.
template <class Number>
double log_sum_exp(std::span<const Number> x) {
  const double largest = double(*std::max_element(x.begin(), x.end()));
  double sum = 0;
  for (const Number each : x) sum += std::exp(double(each) - largest);
  return largest + std::log(sum);
}

/// Replaces x by e^x / sum e^x and returns ln of the sum; x is not empty.
inline double to_softmax(std::span<double> x) {
  const double largest = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double& each : x) sum += each = std::exp(each - largest);
  for (double& each : x) each /= sum;
  return largest + std::log(sum);
}

inline std::vector<double> softmax_of(std::vector<double> x) {
  to_softmax(x);
  return x;
}

}  // namespace bochner
