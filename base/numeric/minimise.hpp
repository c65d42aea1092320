#pragma once
/// Minimisation of a smooth function of a few numbers within a box.

#include <functional>
#include <vector>

namespace bochner {

/// Returns the value at x and writes its gradient, which has the size of x. Infinite where the
/// function has no value.
using SmoothFunction =
    std::function<double(const std::vector<double>& x, std::vector<double>& gradient)>;

struct Minimum {
  std::vector<double> x;
  double value;
};

/// Returns the least value found by L-BFGS (NLopt's) from `x`, which is in the box low <= x <=
/// high. Stops where no part of the gradient that stays in the box is above `steepness`, where the
/// value falls no more, or after so many evaluations. The same input gives the same bits.
Minimum minimise_in_box(const SmoothFunction& f, std::vector<double> x,
                        const std::vector<double>& low, const std::vector<double>& high,
                        double steepness = 1e-7, int evaluations = 400);

}  // namespace bochner
