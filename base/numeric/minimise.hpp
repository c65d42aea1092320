#pragma once
/// A smooth function of a few numbers made small within a box.

#include <functional>
#include <vector>

namespace bochner {

/// The value at x, and its gradient, which is there with the size of x. Infinite where there is no
/// value.
using SmoothFunction =
    std::function<double(const std::vector<double>& x, std::vector<double>& gradient)>;

struct Minimum {
  std::vector<double> x;
  double value;
};

/// L-BFGS whose steps are cut at the borders, from `x`, which is in the box low <= x <= high; stops
/// where no part of the gradient is above `steepness` or the value falls no more. Nocedal and
/// Wright, "Numerical Optimization", 2006, 7.2; borders as in Bertsekas' projected Newton methods,
/// 1982.
Minimum minimise_in_box(const SmoothFunction& f, std::vector<double> x,
                        const std::vector<double>& low, const std::vector<double>& high,
                        double steepness = 1e-7, int iterations = 100);

}  // namespace bochner
