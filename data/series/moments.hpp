#pragma once

#include <algorithm>
#include <bochner/autodiff/real.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

namespace bochner {

/// Mean and standard deviation (divisor n), exactly 0 for equal numbers.
struct Moments {
  double mean = 0, deviation = 0;
};

/// Returns the moments of the numbers that walk(action) passes on, the same each time; 0 for none.
template <class Walk>
Moments moments_of(const Walk& walk) {
  double n = 0, sum = 0, squares = 0, least = std::numeric_limits<double>::infinity(),
         most = -least;
  walk([&](double x) {
    n += 1, sum += x;
    least = std::min(least, x), most = std::max(most, x);
  });
  if (n == 0) return {};
  if (least == most) return {least, 0};
  const double mean = sum / n;
  walk([&](double x) { squares += (x - mean) * (x - mean); });
  if (squares >= std::numeric_limits<double>::min()) return {mean, std::sqrt(squares / n)};
  const double unit = std::max(most - mean, mean - least);  // its square underflows
  squares = 0;
  walk([&](double x) { squares += (x - mean) / unit * ((x - mean) / unit); });
  return {mean, unit * std::sqrt(squares / n)};
}

/// Checks the moments of a `column` for a model, and sets the deviation to 0 if rounding errors are
/// all that varies. Throws DataError if its numbers differ by little more than the precision of
/// real, so that a model would see steps.
Moments resolved(const Moments& moments, const std::string& column);

/// Checks n consecutive values of a column. Returns a warning if three of four changes are less
/// than a few steps of real, as in a meter that has counted for long; else "". Throws DataError if
/// they round to the same real.
std::string coarse_steps(const double* x, std::size_t n, const std::string& column);

}  // namespace bochner
