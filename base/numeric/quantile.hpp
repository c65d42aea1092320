#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace bochner {

/// Returns the quantile at `part` in [0, 1]; NaN sorts last, no numbers give 0.
inline double quantile_of(std::vector<double> numbers, double part) {
  if (numbers.empty()) return 0;
  const auto at = numbers.begin() + std::ptrdiff_t(part * double(numbers.size() - 1) + 0.5);
  const auto less = [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); };
  std::nth_element(numbers.begin(), at, numbers.end(), less);
  return *at;
}

inline double median(std::vector<double> numbers) { return quantile_of(std::move(numbers), 0.5); }

}  // namespace bochner
