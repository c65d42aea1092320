#pragma once

#include <algorithm>
#include <bochner/autodiff/real.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

namespace bochner {

/// Mean and standard deviation (divisor n). That of equal numbers, whose mean may be a rounding
/// off, is 0.
struct Moments {
  double mean = 0, deviation = 0;
};

/// Of the numbers that walk(action) gives to an action, the same at every call; 0 of none.
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
  const double unit = std::max(most - mean, mean - least);  // whose square is too small a number
  squares = 0;
  walk([&](double x) { squares += (x - mean) / unit * ((x - mean) / unit); });
  return {mean, unit * std::sqrt(squares / n)};
}

/// Of a `column` that a model is to see, which does not change if rounding errors are all that
/// changes. Throws DataError where its numbers differ by little more than two neighbours of reals
/// do, so that a model would see steps.
Moments resolved(const Moments& moments, const std::string& column);

/// Of n values of a column, one row after the other: a warning where three of four neighbours that
/// differ do so by less than a few steps of reals, as those of a meter that has counted for long;
/// "" elsewhere. Throws DataError where they are one real.
std::string coarse_steps(const double* x, std::size_t n, const std::string& column);

}  // namespace bochner
