#pragma once

#include <functional>
#include <vector>

namespace bochner {

/// Returns the value at x and writes its gradient, same size. Infinite where undefined.
using SmoothFunction =
    std::function<double(const std::vector<double>& x, std::vector<double>& gradient)>;

struct Minimum {
  std::vector<double> x;
  double value;
};

/// Minimises by NLopt's L-BFGS from `x` in the box low <= x <= high; returns the smallest value
/// found. Stops when no gradient component that stays in the box exceeds `steepness`, when the
/// value no longer falls, or after `evaluations`. Equal input gives equal bits.
Minimum minimise_in_box(const SmoothFunction& f, std::vector<double> x,
                        const std::vector<double>& low, const std::vector<double>& high,
                        double steepness = 1e-7, int evaluations = 400);

}  // namespace bochner
