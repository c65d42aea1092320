#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

namespace bochner {

/// The number in the middle, the upper one of two; a NaN is above all. 0 of none.
inline double median(std::vector<double> numbers) {
  if (numbers.empty()) return 0;
  const auto middle = numbers.begin() + std::ptrdiff_t(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end(),
                   [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); });
  return *middle;
}

}  // namespace bochner
