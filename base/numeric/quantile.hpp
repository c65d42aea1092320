#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace bochner {

/// The number below which a part of them lies, 0 <= part <= 1; a NaN is above all. 0 of none.
inline double quantile_of(std::vector<double> numbers, double part) {
  if (numbers.empty()) return 0;
  const auto at = numbers.begin() + std::ptrdiff_t(part * double(numbers.size() - 1) + 0.5);
  const auto less = [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); };
  std::nth_element(numbers.begin(), at, numbers.end(), less);
  return *at;
}

/// The number in the middle, the upper one of two.
inline double median(std::vector<double> numbers) { return quantile_of(std::move(numbers), 0.5); }

}  // namespace bochner
